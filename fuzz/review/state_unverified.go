package review

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxProbed is the number of texts in a readable token that are changed.
const maxProbed = 8

// unverified presents changed states without answers if the rest of the check presents
// them with answers: a server may verify a state only once it has an answer. It refutes
// if a changed text comes back in the question or in the next state.
func (t *T) unverified() {
	for _, o := range t.r.oracles {
		if len(t.findings) > 0 || o.flow.Last == nil {
			continue
		}
		f := o.flow
		f.Last = nil
		for i := range maxProbed {
			name := fmt.Sprintf("text %d of the state of %s without answers", i, f.Target)
			if t.only != "" && t.only != name {
				continue
			}
			a, v, probed := t.probed(f, o, i)
			if !probed {
				break
			}
			if t.trials++; !a.echoes() {
				continue
			}
			again, _, _ := t.probed(f, o, i)
			if !again.echoes() {
				continue
			}
			severity, goes := Warning, "a question shows it"
			if a.State != nil && strings.Contains(readable(*a.State), echoProbe) {
				severity, goes = Critical, "the next state has it"
			}
			t.refute(Finding{Case: name, Severity: severity, Issue: "a state is read before it is verified: a text in it is changed, and " + goes,
				Evidence: fmt.Sprintf("%s -> %v %s", short(v, 160), a, short(a.questionTexts(), 80)), Want: "refused", Got: "asked", Flow: &o.flow})
			break
		}
	}
}

// probed presents a fresh token without answers whose nth text is a probe; false if it has
// no such text.
func (t *T) probed(f Flow, o *oracle, nth int) (Answer, string, bool) {
	token, _, err := t.r.client.mint(t.ctx, f, o.user)
	if err != nil {
		return Answer{}, "", false
	}
	for _, v := range views(token) {
		n := countTexts(object(v.object))
		if nth >= n {
			nth -= n
			continue
		}
		text := v.write(token, replaceText(object(v.object), &nth))
		return t.r.client.present(t.ctx, f, quote(text), o.user), text, true
	}
	return Answer{}, "", false
}

// countTexts is the number of texts in a value. A text that is JSON counts as that.
func countTexts(raw json.RawMessage) int {
	if inner, ok := innerObject(raw); ok {
		return countTexts(inner)
	}
	if raw[0] == '"' {
		return 1
	}
	n := 0
	for _, value := range members(raw) {
		n += countTexts(value)
	}
	return n
}

// innerObject is the object that a text holds.
func innerObject(raw json.RawMessage) (json.RawMessage, bool) {
	var text string
	if json.Unmarshal(raw, &text) != nil || members(json.RawMessage(text)) == nil {
		return nil, false
	}
	return json.RawMessage(text), true
}

// replaceText returns a value with the probe in the place of its nth text.
func replaceText(raw json.RawMessage, nth *int) json.RawMessage {
	if inner, ok := innerObject(raw); ok {
		return quote(string(replaceText(inner, nth)))
	}
	if raw[0] == '"' {
		if *nth--; *nth == -1 {
			return quote(echoProbe)
		}
		return raw
	}
	m := members(raw)
	for _, name := range sortedKeys(m) {
		m[name] = replaceText(m[name], nth)
	}
	if m == nil {
		return raw
	}
	return object(m)
}
