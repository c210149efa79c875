package review

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// internals are texts that no client has a use for.
var internals = regexp.MustCompile(`(?m)(?i:key|secret)=[0-9a-fA-F]{12}|goroutine \d+ \[|^\s+at \S+ \(.*:\d+:\d+\)|Traceback \(most recent|File "[^"]+", line \d+|(/[\w.-]+){2,}\.(go|py|js|mjs|ts|rb|rs|php|java)\b|panicked at |` +
	`invalid character '.' |Unexpected token|is not valid JSON|JSON at position|Expecting value: line|JSONDecodeError|JSON\.parse|illegal base64 data|message authentication failed|InvalidTag|Incorrect padding|` +
	`\b(Value|Type|Key|Index|Attribute|Syntax|Range|Reference|UnicodeDecode|binascii\.)Error\b`)

func refusalText(t *T) {
	if t.toldSecret() || t.toldState() || t.toldOdd() {
		return
	}
	classes, reason := t.refusalsOf(t.badKinds)
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

// maxTold is the number of characters of a token that are changed, about.
const maxTold = 60

// toldState changes characters of a token that holds a marker. It refutes if a refusal has
// the marker, and that of garbage in the same call has not: the state is decrypted before
// it is verified.
func (t *T) toldState() bool {
	own := t.o
	defer func() { t.o = own }()
	t.prefer(takesText)
	f := t.o.flow
	args := withText(f.Arguments, f.offer.input(), strings.Repeat(markerA, 5))
	if args == nil || t.only != "" && t.only != "a marker" {
		return false
	}
	f = f.with(args)
	told := func(a Answer) bool {
		return a.refused() && strings.Contains(a.Message+string(a.Data)+a.Text, markerA[:12])
	}
	token, _, err := t.r.client.mint(t.ctx, f, t.o.user)
	if err != nil || told(t.r.client.present(t.ctx, f, quote(garbageState), t.o.user)) {
		return false
	}
	for _, v := range flipsAt(token, func(d int) bool { return d%max(1, len(token)/maxTold) == 0 }) {
		a := t.r.client.present(t.ctx, f, v.state(), t.o.user)
		if t.trials++; !told(a) || !told(t.r.client.present(t.ctx, f, v.state(), t.o.user)) || told(t.r.client.present(t.ctx, f, quote(garbageState), t.o.user)) {
			continue
		}
		t.refute(Finding{Case: "a marker", Severity: Critical, Issue: "a refusal tells a part of the state", Evidence: fmt.Sprintf("a token of %d times A, %s changed -> %s", 5*len(markerA), v.name, short(string(a.Data)+a.Message, 200)), Want: "one text without a cause", Got: "a part of the state"})
		return true
	}
	return false
}

// oddStates are texts that careless readers fail on outside of their care.
var oddStates = []string{"%zz", "%E0%A4%A", "%ff", "%00", "\x00", "{", "[]", "null", "{}", "{\"a\":", "__proto__", "a.b.c", "a.b.c.d.e", "....", "\U0001f511", "="}

// toldOdd presents odd texts alone and behind a token.
func (t *T) toldOdd() bool {
	token, reason := t.mint()
	if reason != "" || t.only != "" && !strings.HasPrefix(t.only, "the text ") {
		return false
	}
	for _, odd := range oddStates {
		for _, text := range []string{odd, token + odd} {
			a := t.r.client.present(t.ctx, t.o.flow, quote(text), t.o.user)
			t.trials++
			if found := internals.FindString(a.Message + "\n" + string(a.Data)); a.refused() && found != "" {
				t.refute(Finding{Case: fmt.Sprintf("the text %q", odd), Severity: Warning, Issue: "a refusal tells internals of the server", Evidence: fmt.Sprintf("%s -> %v, with %s", short(text, 160), a, short(found, 80)), Want: "one text without a cause", Got: "internals"})
				return true
			}
		}
	}
	return false
}

// quoted returns a part of the presented state that a refusal repeats.
func (t *T) quoted(a answered, text string) string {
	state := presented(a.answer)
	if len(state) < 16 {
		return ""
	}
	for i := 0; i+12 <= len(state); i += 4 {
		if part := state[i : i+12]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}
