package review

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mergedFlows begins a call, begins another one of the same target, and ends the first. It
// refutes if the result of the first names the argument of the second, twice: the server
// keeps one state for both.
func (t *T) mergedFlows() {
	for _, o := range t.r.oracles {
		label := "two calls of " + o.flow.Target
		if o.flow.Last == nil || o.good.Kind != completed || len(t.findings) > 0 || t.only != "" && t.only != label {
			continue
		}
		evidence := ""
		for range 2 {
			if evidence = t.merges(o); evidence == "" {
				break
			}
		}
		if evidence != "" {
			t.refute(Finding{Case: label, Severity: Critical, Issue: "a call is ended with the arguments of another one that began later", Evidence: evidence, Want: "the arguments of the call", Got: "those of the other", Flow: &o.flow})
		}
	}
}

// merges is the evidence that a call ends with the argument of a later one, "" if it does not.
func (t *T) merges(o *oracle) string {
	input := o.flow.offer.input()
	words := [2]string{t.word(), t.word()}
	one, two := withText(o.flow.Arguments, input, words[0]), withText(o.flow.Arguments, input, words[1])
	if one == nil {
		return ""
	}
	token, _, err := t.r.client.mint(t.ctx, o.flow.with(one), o.user)
	if err != nil {
		return ""
	}
	if _, _, err := t.r.client.mint(t.ctx, o.flow.with(two), o.user); err != nil {
		return ""
	}
	a := t.r.client.present(t.ctx, o.flow.with(one), quote(token), o.user)
	if t.seen(variant{name: "two calls"}, a); a.Kind != completed || strings.Contains(a.Text, words[0]) || !strings.Contains(a.Text, words[1]) {
		return ""
	}
	return fmt.Sprintf("began with %s, then another call with %s; the first ended: %v", json.RawMessage(one), json.RawMessage(two), a)
}
