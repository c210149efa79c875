package review

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// refusing are the checks of the answers to bad states.
var refusing = []Check{
	{ID: "RS-UNIFORM", Name: "refusals that differ", Flow: true, Severity: Warning, Category: "security",
		Sent: "states that are bad in different ways, and a good one of other arguments, each three times", Want: "one status, code, message and data for all",
		Source: "RFC 7516, section 11.5; Bleichenbacher 1998, Vaudenay 2002", Impact: "the refusal tells how far a forged state came, which is an oracle for forging or decrypting",
		Fix: "verify everything before anything is read, and answer every bad state by one error without a cause", Run: uniform},
	{ID: "RS-TEXT", Name: "refusals that tell internals", Flow: true, Severity: Critical, Category: "security",
		Sent: "bad states, and a token with another tag; the texts of the refusals are searched", Want: "nothing of the state, of keys, of tags, of files and of code", Source: mrtr,
		Impact: "an error shows how states are made, or parts of one", Fix: "answer every bad state by one error without a cause, and log the cause", Run: refusalText},
}

// badStates are states that are bad in different ways. Their names are the ways.
func (t *T) badStates(token string) []variant {
	all := []variant{{name: "no token", text: garbageState}, {name: "no token, longer", text: "sealab-probe-" + strings.Repeat("z", 60)}}
	add := func(name, text string) {
		if text != "" && text != token {
			all = append(all, variant{name: name, text: text})
		}
	}
	// Of each list the middle: neither a border nor in the prefix.
	for i, at := range []int{0, len(token) / 3, len(token) - len(token)/8 - 1} {
		add(fmt.Sprintf("changed near %s", []string{"the start", "the middle", "the end"}[i]), token[:at]+string(flip(token[at], false))+token[at+1:])
	}
	add("half of it", token[:len(token)/2])
	add("without its end", token[:max(len(token)-4, 0)])
	if text, ok := scramble(token, rand.New(rand.NewPCG(t.r.opts.Seed, 2))); ok {
		add("random content", text)
	}
	segments := segmentsOf(token)
	for _, i := range codedOf(segments) {
		add(fmt.Sprintf("segment %d scrambled", i), replaced(segments, i, scrambled(segments[i].text, rand.New(rand.NewPCG(t.r.opts.Seed, 3)))))
	}
	return all
}

// refusalsOf presents each kind of bad state three times, each time made of a
// fresh token. A kind that is accepted, or refused in changing ways, is left out.
func (t *T) refusalsOf() (classes map[string][]answered, reason string) {
	token, reason := t.mint()
	if reason != "" {
		return nil, reason
	}
	by := map[string][]answered{}
	var names []string
	for _, v := range t.badStates(token) {
		names = append(names, v.name)
	}
	for range 3 {
		token, reason := t.mint()
		if reason != "" {
			return nil, reason
		}
		for _, v := range t.badStates(token) {
			a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
			t.seen(v, a)
			by[v.name] = append(by[v.name], answered{v.name, a})
		}
		if a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user); t.o.verdict(a) != accepted {
			return nil, fmt.Sprintf("the unchanged token is not accepted afterwards: %v", a)
		}
	}
	classes = map[string][]answered{}
	for _, name := range names {
		if class, ok := steady(by[name]); ok {
			classes[class] = append(classes[class], by[name][0])
		}
	}
	return classes, ""
}

// steady returns the class of refusals that are all alike.
func steady(all []answered) (string, bool) {
	for _, a := range all {
		if !a.answer.refused() || a.answer.refusal() != all[0].answer.refusal() {
			return "", false
		}
	}
	return all[0].answer.refusal(), len(all) > 1
}

func uniform(t *T) {
	classes, reason := t.refusalsOf()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if len(classes) == 0 {
		t.skip("no kind of bad state is refused alike three times")
		return
	}
	if len(classes) == 1 {
		t.refusedElsewhere(sortedKeys(classes)[0])
		return
	}
	var lines []string
	for _, class := range sortedKeys(classes) {
		lines = append(lines, fmt.Sprintf("%s -> %s", classes[class][0].name, class))
	}
	t.refute(Finding{Case: "kinds of bad states", Severity: Warning, Issue: fmt.Sprintf("bad states are refused in %d ways", len(classes)),
		Evidence: strings.Join(lines, "; "), Want: "one class", Got: "several"})
}

// refusedElsewhere compares the refusal of a good state of other arguments with that of
// bad states.
func (t *T) refusedElsewhere(class string) {
	if t.o.flow.Other == nil {
		return
	}
	var all []answered
	for range 3 {
		token, _, err := t.r.client.mint(t.ctx, t.o.flow.with(t.o.flow.Other), t.o.user)
		if err != nil {
			return
		}
		a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user)
		t.seen(variant{name: "other arguments"}, a)
		all = append(all, answered{"other arguments", a})
	}
	if other, ok := steady(all); ok && other != class {
		t.refute(Finding{Case: "a good state of other arguments", Severity: Suggestion, Issue: "a good state of another call is refused in another way than a bad state: whoever holds it learns that it is good",
			Evidence: fmt.Sprintf("of other arguments -> %s; bad -> %s", other, class), Want: "one class", Got: "another"})
	}
}

// internals are texts that no client has a use for.
var internals = regexp.MustCompile(`(?m)(?i:key|secret)=[0-9a-fA-F]{12}|goroutine \d+ \[|^\s+at \S+ \(.*:\d+:\d+\)|Traceback \(most recent|File "[^"]+", line \d+|(/[\w.-]+){2,}\.(go|py|js|mjs|ts|rb|rs|php|java)\b|panicked at |` +
	`invalid character '.' |Unexpected token|is not valid JSON|JSON at position|Expecting value: line|JSONDecodeError|JSON\.parse|illegal base64 data|message authentication failed|InvalidTag|Incorrect padding|` +
	`\b(Value|Type|Key|Index|Attribute|Syntax|Range|Reference|UnicodeDecode|binascii\.)Error\b`)

func refusalText(t *T) {
	if t.toldSecret() {
		return
	}
	classes, reason := t.refusalsOf()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	for _, class := range sortedKeys(classes) {
		for _, a := range classes[class] {
			text := a.answer.Message + "\n" + string(a.answer.Data)
			found := internals.FindString(text)
			if found == "" {
				found = t.quoted(a, text)
			}
			if found == "" {
				continue
			}
			t.refute(Finding{Case: a.name, Severity: Warning, Issue: "a refusal tells internals of the server",
				Evidence: fmt.Sprintf("%s -> %v, with %s", a.name, a.answer, short(found, 80)), Want: "one text without a cause", Got: "internals"})
			return
		}
	}
}

// longText is a text that may be a key.
var longText = regexp.MustCompile(`[A-Za-z0-9+/_=-]{16,}`)

// toldSecret presents a token whose tag is changed. It refutes the check if the
// refusal tells the tag of that token, or a key under which the tag fits.
func (t *T) toldSecret() bool {
	token, reason := t.mint()
	at := strings.LastIndexAny(token, ".:~|,;!*$") + 1
	if reason != "" || at == 0 || len(token)-at < 12 {
		return false
	}
	tag := token[at:]
	end := len(tag) - 1
	a := t.r.client.present(t.ctx, t.o.flow, quote(token[:at]+tag[1:end]+tag[:1]+tag[end:]), t.o.user)
	if t.seen(variant{name: "another tag"}, a); !a.refused() {
		return false
	}
	text := a.Message + "\n" + string(a.Data)
	told := ""
	for _, spelling := range writings(tag) {
		if strings.Contains(text, spelling) {
			told = "the tag that the server expects"
		}
	}
	for _, word := range longText.FindAllString(text, 20) {
		if t.r.keyOfStates(word) {
			told = "the key of the tag"
		}
	}
	if told != "" {
		t.refute(Finding{Case: "another tag", Severity: Critical, Issue: "a refusal tells " + told, Evidence: fmt.Sprintf("a token with another tag -> %v", a), Want: "one text without a cause", Got: told})
	}
	return told != ""
}

// writings are the texts by which a tag may be told.
func writings(tag string) []string {
	all := []string{tag}
	for _, raw := range lastParts(tag) {
		if len(raw) >= 8 {
			all = append(all, fmt.Sprintf("%x", raw), fmt.Sprintf("%X", raw), base64.RawStdEncoding.EncodeToString([]byte(raw)))
		}
	}
	return all
}

// quoted returns a part of the presented state that a refusal repeats.
func (t *T) quoted(a answered, text string) string {
	var sent struct {
		Params struct {
			State json.RawMessage `json:"requestState"`
		} `json:"params"`
	}
	_ = json.Unmarshal(bodyOf(a.answer), &sent)
	var state string
	if json.Unmarshal(sent.Params.State, &state) != nil || len(state) < 16 {
		return ""
	}
	for i := 0; i+12 <= len(state); i += 4 {
		if part := state[i : i+12]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// bodyOf returns the body of the request of an answer.
func bodyOf(a Answer) []byte {
	if a.Exchange == nil {
		return nil
	}
	if _, body, ok := strings.Cut(string(a.Exchange.Sent), "\r\n\r\n"); ok {
		return []byte(body)
	}
	return a.Exchange.Sent
}
