package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// refusing are the checks of the answers to bad states.
var refusing = []Check{
	{ID: "RS-UNIFORM", Name: "refusals that differ", Flow: true, Severity: Warning, Category: "security",
		Sent: "states that are bad in different ways, and good ones of other arguments, targets and users, each three times", Want: "one status, body and set of headers for all",
		Source: "RFC 7516, section 11.5; Bleichenbacher 1998, Vaudenay 2002", Impact: "the refusal tells how far a forged state came, which is an oracle for forging or decrypting",
		Fix: "verify everything before anything is read, and answer every bad state by one error without a cause", Run: uniform},
	{ID: "RS-TEXT", Name: "refusals that tell internals", Flow: true, Severity: Critical, Category: "security",
		Sent: "bad states, odd texts, a token with another tag, and one of a marker with changed characters; the texts of the refusals are searched", Want: "nothing of the state, of keys, of tags, of files and of code", Source: mrtr,
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
	add("an empty object", "{}")
	segments := segmentsOf(token)
	for _, i := range codedOf(segments) {
		for _, text := range []string{"{}", "[]", "sealab"} {
			add(fmt.Sprintf("segment %d %s", i, text), replaced(segments, i, segments[i].write([]byte(text))))
		}
		add(fmt.Sprintf("segment %d scrambled", i), replaced(segments, i, scrambled(segments[i].text, rand.New(rand.NewPCG(t.r.opts.Seed, 3)))))
	}
	return all
}

// repeats is how often each kind of bad state is presented.
const repeats = 3

// refusalsOf presents kinds of states and returns their refusals by class. Each round
// has states of its own and begins at another request, so that the answers of servers
// that take turns do not follow the kinds. A kind that is accepted, or refused in
// changing ways, is left out.
func (t *T) refusalsOf(kinds func(round int) ([]variant, string)) (classes map[string][]answered, reason string) {
	by := map[string][]answered{}
	for round := range repeats {
		all, reason := kinds(round)
		if reason != "" {
			return nil, reason
		}
		for range round {
			t.r.client.present(t.ctx, t.o.flow, quote(garbageState), t.o.user)
		}
		for _, v := range all {
			a := t.r.client.present(t.ctx, t.o.flow, v.state(), t.o.user)
			t.seen(v, a)
			by[v.name] = append(by[v.name], answered{v.name, a})
		}
		token, reason := t.mint()
		if reason != "" {
			return nil, reason
		}
		if a := t.r.client.present(t.ctx, t.o.flow, quote(token), t.o.user); t.o.verdict(a) != accepted {
			return nil, fmt.Sprintf("the unchanged token is not accepted afterwards: %v", a)
		}
	}
	for name, all := range by {
		if !steady(all) {
			delete(by, name)
		}
	}
	classes = map[string][]answered{}
	exact := exactParts(by)
	for _, name := range sortedKeys(by) {
		class := by[name][0].answer.refusal()
		for _, part := range exact {
			class += fmt.Sprintf(", %s %s", part, short(by[name][0].answer.parts()[part], 200))
		}
		classes[class] = append(classes[class], by[name][0])
	}
	return classes, ""
}

// steady reports whether a kind of state is always refused, and alike.
func steady(all []answered) bool {
	for _, a := range all {
		if !a.answer.refused() || a.answer.refusal() != all[0].answer.refusal() {
			return false
		}
	}
	return len(all) == repeats
}

// exactParts are the parts of refusals that are always the same for most kinds of states,
// and differ between two kinds of about one length. Kinds for which such a part varies
// are left out of by.
func exactParts(by map[string][]answered) []string {
	values := map[string]map[string]string{} // by part and kind
	for _, all := range by {
		for part := range all[0].answer.parts() {
			values[part] = map[string]string{}
		}
	}
	lengths := map[string]int{}
	for name, all := range by {
		lengths[name] = len(presented(all[0].answer))
		for part := range values {
			value := all[0].answer.parts()[part] // "" if absent
			if !slices.ContainsFunc(all, func(a answered) bool { return a.answer.parts()[part] != value }) {
				// A part that repeats the length tells nothing of the cause.
				values[part][name] = strings.ReplaceAll(value, fmt.Sprint(lengths[name]), "#")
			}
		}
	}
	var exact []string
	kinds := len(by)
	for _, part := range sortedKeys(values) {
		if len(values[part]) < (3*kinds+3)/4 || !differ(values[part], lengths) {
			continue
		}
		exact = append(exact, part)
		maps.DeleteFunc(by, func(name string, _ []answered) bool { _, ok := values[part][name]; return !ok })
	}
	return exact
}

// differ reports whether two kinds of about one length have different values.
func differ(values map[string]string, lengths map[string]int) bool {
	for one := range values {
		for two := range values {
			if d := lengths[one] - lengths[two]; d >= 0 && d <= 16 && values[one] != values[two] {
				return true
			}
		}
	}
	return false
}

// parts are the body of a response without its id, and its headers.
func (a Answer) parts() map[string]string {
	all := map[string]string{}
	if a.Exchange == nil || len(a.Exchange.Messages) == 0 {
		return all
	}
	m := members(a.Exchange.Messages[len(a.Exchange.Messages)-1])
	delete(m, "id")
	all["body"] = string(object(m))
	for name, value := range a.Exchange.Headers {
		all["header "+name] = strings.Join(value, ", ")
	}
	return all
}

// badKinds are the bad states of a fresh token, and good ones of other calls and users.
func (t *T) badKinds(int) ([]variant, string) {
	token, reason := t.mint()
	if reason != "" {
		return nil, reason
	}
	return append(t.badStates(token), t.elsewhere()...), ""
}

// elsewhere are good states of other calls and users. Their names begin with those.
func (t *T) elsewhere() []variant {
	var all []variant
	add := func(name string, f Flow, as user) {
		if token, _, err := t.r.client.mint(t.ctx, f, as); err == nil && token != "" {
			all = append(all, variant{name: goodState + name, text: token})
		}
	}
	if f := t.o.flow; f.Other != nil {
		add("other arguments", f.with(f.Other), t.o.user)
	}
	for _, o := range t.r.oracles {
		if o.flow.Method == t.o.flow.Method && o.flow.Target != t.o.flow.Target {
			add("another target", o.flow, t.o.user)
			break
		}
	}
	if len(t.r.opts.Target.Second) > 0 {
		add("another user", t.o.flow, second)
	}
	return all
}

const goodState = "a good state of "

func uniform(t *T) {
	classes, reason := t.refusalsOf(t.badKinds)
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	if len(classes) == 0 {
		t.skip("no kind of bad state is refused alike three times")
		return
	}
	var lines []string
	bad, good := map[string]bool{}, map[string]string{} // classes
	for _, class := range sortedKeys(classes) {
		for _, a := range classes[class] {
			if name, ok := strings.CutPrefix(a.name, goodState); ok {
				good[class] = name
			} else {
				bad[class] = true
			}
		}
		lines = append(lines, fmt.Sprintf("%s -> %s", classes[class][0].name, class))
	}
	f := Finding{Evidence: strings.Join(lines, "; "), Want: "one class", Got: "several"}
	switch {
	case len(bad) > 1:
		f.Case, f.Severity, f.Issue = "kinds of bad states", Warning, fmt.Sprintf("bad states are refused in %d ways", len(bad))
		t.refute(f)
	case len(bad) == 1 && len(classes) > 1:
		f.Case, f.Severity = "a good state of another call", Suggestion
		for class, name := range good {
			if !bad[class] {
				f.Issue = goodState + name + " is refused in another way than a bad state: whoever holds it learns that it is good"
			}
		}
		t.refute(f)
	}
}

// expiredAlike compares the refusal of expired tokens, one for each round, with that of
// tokens that were changed.
func (t *T) expiredAlike(old []string) {
	classes, reason := t.refusalsOf(func(round int) ([]variant, string) {
		token, reason := t.mint()
		if reason != "" {
			return nil, reason
		}
		return append(t.badStates(token), variant{name: expiredState, text: old[round]}), ""
	})
	if reason != "" || len(classes) < 2 {
		return
	}
	var lines []string
	changed, expired := "", "" // classes
	for _, class := range sortedKeys(classes) {
		for _, a := range classes[class] {
			switch {
			case a.name == expiredState:
				expired = class
			case strings.HasPrefix(a.name, "changed near"):
				changed = class
			}
		}
		lines = append(lines, fmt.Sprintf("%s -> %s", classes[class][0].name, class))
	}
	if expired != "" && changed != "" && len(classes[expired]) == 1 {
		t.refute(Finding{Case: "how it is refused", Severity: Suggestion, Issue: "an expired state is refused in another way than a changed one: whoever holds it learns that it was good",
			Evidence: strings.Join(lines, "; "), Want: "one class", Got: "another"})
	}
}

const expiredState = "an expired state"

// presented is the state that an answer was given to, "" if it is no text.
func presented(a Answer) string {
	var sent struct {
		Params struct {
			State string         `json:"requestState"`
			Meta  map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(bodyOf(a), &sent) // of another type: ""
	if _, state := carried(sent.Params.Meta); state != nil {
		return *state
	}
	return sent.Params.State
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
