package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

const bindFix = "put a digest of the arguments, the target, the method and the principal into the authenticated part of the token, and compare each when it comes back"

// binding are the checks of the request that a state belongs to.
var binding = []Check{
	{ID: "RS-ARGS", Name: "a state with other arguments", Flow: true, Severity: Critical, Category: "security",
		Sent: "the token of a call with one argument changed, and with arguments that careless digests confuse: values that are empty or absent, members that no schema names, cut texts, joined texts, rounded numbers, an argument twice; the token of the first round as well; with --effects two calls at once", Want: "refused", Source: mrtr + ", SHOULD bind to the request",
		Impact: "a confirmation of one call is used for another: the user agrees to one thing and another is done", Fix: bindFix, Run: otherArgs},
	{ID: "RS-TOOL", Name: "a state of another target", Flow: true, Severity: Critical, Category: "security",
		Sent: "the token of one tool, prompt or resource in a call of another, both ways", Want: "refused", Source: mrtr + ", SHOULD bind to the request",
		Impact: "a confirmation of one tool, prompt or resource is used for another", Fix: bindFix, Run: otherTool},
	{ID: "RS-METHOD", Name: "a state of another method", Flow: true, Severity: Critical, Category: "security",
		Sent: "the token of tools/call in prompts/get and resources/read; with --effects the cursors of lists as states", Want: "refused", Source: mrtr + ", SHOULD bind to the request",
		Impact: "a state that one handler wrote is read by another", Fix: bindFix + "; seal cursors under another key or for another purpose", Run: otherMethod},
	{ID: "RS-ARGSAME", Name: "the same arguments in another order", Flow: true, Severity: Suggestion, Category: "reliability",
		Sent: "a fresh token with the same arguments, members in another order", Want: "accepted", Source: "RFC 8259, section 4: members have no order",
		Impact: "a client that writes JSON in another order is refused", Fix: "bind to the arguments in a canonical form (RFC 8785)", Timed: true, Run: sameArgs},
	{ID: "RS-USER", Name: "a state of another user", Flow: true, Severity: Critical, Category: "security",
		Sent: "the token of one user with the credentials of the other, both ways, and without any; the token of the first round as well", Want: "refused", Source: mrtr + ", SHOULD bind to the user",
		Impact: "whoever gets hold of a token goes on in the name of its owner, or makes another go on in his", Fix: bindFix, Over: "http", Run: otherUser},
}

// shown is the severity of a token that a flow takes from elsewhere. If a good token only
// gets the first question again, a server that begins again looks the same.
func (t *T) shown(target Flow) (Severity, string) {
	for _, o := range t.r.oracles {
		if o.flow.Method == target.Method && o.flow.Target == target.Target && o.blind() {
			return Warning, ", or begins the flow again; --effects tells them apart"
		}
	}
	return Critical, ""
}

func otherArgs(t *T) {
	reason, tried := "", false
	for _, o := range t.r.oracles {
		for i, m := range argumentMoves(o.flow) {
			name := fmt.Sprintf("other arguments of %s", o.flow.Target)
			if i == 0 && !tried {
				name = "other arguments"
			}
			if t.only != "" && t.only != name {
				continue
			}
			m.sourceUser, m.targetUser, m.strict = t.o.user, t.o.user, true
			if tried && i > 0 && t.turnedDown(o, m) {
				continue
			}
			evidence, is, why := t.moved(m)
			if tried = true; is {
				t.refuteArguments(name, evidence, o.flow)
				return
			}
			// Close arguments that the server refuses by themselves tell nothing.
			if i == 0 && why != "" {
				reason = orElse(reason, why)
				break
			}
		}
	}
	t.nearMoves()
	t.doubledArgument()
	t.mergedFlows()
	switch {
	case !tried:
		t.skip("%s has no arguments that can be changed; --other gives some", t.o.flow)
	case reason != "":
		t.skip("%s", reason)
	}
}

func (t *T) refuteArguments(name, evidence string, f Flow) {
	severity := Warning
	if f.Last != nil {
		severity = Critical
	}
	t.refute(Finding{Case: name, Severity: severity, Issue: "a token is accepted with other arguments than those it was minted for",
		Evidence: evidence, Want: "refused", Got: "accepted", Flow: &f})
}

func otherTool(t *T) {
	var pairs [][2]Flow
	tools := 0
	for _, one := range t.r.oracles {
		if one.flow.Method == "tools/call" {
			tools++
		}
		for _, two := range t.r.oracles {
			if one.flow.Method == two.flow.Method && one.flow.Target != two.flow.Target {
				pairs = append(pairs, [2]Flow{one.flow, two.flow})
			}
		}
	}
	if tools < 2 {
		t.skip("fewer than two tools give a token%s", t.r.notCalled())
	}
	apart := len(pairs)
	for _, p := range pairs {
		if earlier := p[0]; len(earlier.Rounds) > 0 {
			earlier.Rounds = nil
			pairs = append(pairs, [2]Flow{earlier, p[1]})
		}
	}
	pairs = append(pairs, t.firstRounds(func(one, two Flow) bool { return one.Method == two.Method && one.Target != two.Target })...)
	// A token that is bound to its arguments and not to its tool moves only if both
	// tools take the same arguments.
	for _, p := range pairs {
		if one, two, ok := t.alignable(p[0], p[1]); ok {
			pairs = append(pairs, [2]Flow{one, two})
		}
	}
	for i, pair := range pairs {
		name := fmt.Sprintf("from round %d of %s to round %d of %s", len(pair[0].Rounds)+1, pair[0].Target, len(pair[1].Rounds)+1, pair[1].Target)
		if i >= apart && sameJSON(pair[0].Arguments, pair[1].Arguments) {
			name += " with the same arguments"
		}
		if t.only != "" && t.only != name {
			continue
		}
		evidence, is, reason := t.moved(move{source: pair[0], target: pair[1], sourceUser: t.o.user, targetUser: t.o.user})
		if reason != "" {
			t.skip("%s", reason)
			continue
		}
		if is {
			severity, remark := t.shown(pair[1])
			t.refute(Finding{Case: name, Severity: severity, Issue: fmt.Sprintf("a token of one %s is accepted by another", kindOf(pair[0].Method)) + remark, Evidence: evidence, Want: "refused", Got: "accepted", Flow: &pair[0]})
			return
		}
	}
}

// firstRounds are pairs of the first rounds of two flows that ask alike, the second of which
// goes on after it: a token of the first may be taken there.
func (t *T) firstRounds(fit func(one, two Flow) bool) [][2]Flow {
	var all [][2]Flow
	for _, one := range t.r.oracles {
		for _, two := range t.r.oracles {
			if len(two.flow.Rounds) > 0 && fit(one.flow, two.flow) && one.fresh.going() == two.fresh.going() {
				from, to := one.flow.stages(), two.flow.stages()
				all = append(all, [2]Flow{from[min(1, len(from)-1)], to[1]})
			}
		}
	}
	return all
}

// kindOf is what a method calls.
func kindOf(method string) string {
	kind, _, _ := strings.Cut(method, "s/")
	return kind
}

// merged returns the members of two objects; those of the first count.
func merged(one, two json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	maps.Copy(all, members(two))
	maps.Copy(all, members(one))
	return object(all)
}

func sameJSON(one, two json.RawMessage) bool {
	return string(object(members(one))) == string(object(members(two)))
}

// alignable returns two flows with the arguments of both, if both take them.
func (t *T) alignable(one, two Flow) (Flow, Flow, bool) {
	if sameJSON(one.Arguments, two.Arguments) {
		return one, two, false
	}
	one.Arguments = merged(one.Arguments, two.Arguments)
	two.Arguments = one.Arguments
	return one, two, t.taken(one) && t.taken(two)
}

// taken reports whether the first call of a flow is answered by a question.
func (t *T) taken(f Flow) bool { return t.r.client.call(t.ctx, f.call(t.o.user)).Kind == asked }

func otherMethod(t *T) {
	var pairs [][2]Flow
	for _, source := range t.r.oracles {
		for _, target := range t.r.oracles {
			if source.flow.Method != target.flow.Method {
				pairs = append(pairs, [2]Flow{source.flow, target.flow})
			}
		}
	}
	apart := len(pairs)
	pairs = append(pairs, t.firstRounds(func(one, two Flow) bool { return one.Method != two.Method })...)
	if t.cursorsAsStates(); len(pairs) == 0 {
		t.skip("flows of one method alone give tokens")
	}
	for i, pair := range pairs {
		name := fmt.Sprintf("from %s to %s", pair[0], pair[1])
		if i >= apart {
			name += ", first rounds"
		}
		if t.only != "" && t.only != name {
			continue
		}
		m := move{source: pair[0], target: pair[1], sourceUser: t.o.user, targetUser: t.o.user}
		evidence, is, reason := t.moved(m)
		if one, two, ok := t.alignable(pair[0], pair[1]); ok && !is {
			m.source, m.target = one, two
			evidence, is, reason = t.moved(m)
		}
		if reason != "" {
			t.skip("%s", reason)
			continue
		}
		if is {
			t.refute(Finding{Case: name, Severity: Warning, Issue: "a token of one method is accepted by another", Evidence: evidence, Want: "refused", Got: "accepted", Flow: &pair[0]})
			return
		}
	}
}

func sameArgs(t *T) {
	m := members(t.o.flow.Arguments)
	if len(m) < 2 {
		t.skip("%s has fewer than two arguments", t.o.flow)
		return
	}
	names := sortedKeys(m)
	text := "{"
	for i := len(names) - 1; i >= 0; i-- {
		text += string(quote(names[i])) + ":" + string(m[names[i]])
		if i > 0 {
			text += ","
		}
	}
	f := t.o.flow
	token, reason := t.mint()
	if reason != "" {
		t.skip("%s", reason)
		return
	}
	f.Arguments = json.RawMessage(text + "}")
	a := t.r.client.present(t.ctx, f, quote(token), t.o.user)
	if !a.conclusive() {
		t.skip("%v", a)
		return
	}
	t.seen(variant{name: "order"}, a)
	if t.o.verdict(a) == refused {
		t.refute(Finding{Case: "another order", Severity: Suggestion, Issue: "the same arguments in another order are refused",
			Evidence: fmt.Sprintf("arguments %s, then %s -> %v", t.o.flow.Arguments, f.Arguments, a), Want: "accepted", Got: "refused"})
	}
}

func otherUser(t *T) {
	if len(t.r.opts.Target.Second) == 0 {
		t.skip("one user alone is known; --second gives the credentials of another")
		return
	}
	severity, remark := Critical, ""
	if known := t.r.client.call(t.ctx, t.o.flow.call(stranger)); !known.refused() {
		severity, remark = Warning, "; made-up credentials are answered as well, so that the server checks none"
	}
	open := severity == Warning || t.r.client.call(t.ctx, t.o.flow.call(nobody)).Kind == asked
	for _, o := range t.r.oracles {
		for _, m := range []struct {
			name     string
			from, to user
		}{{"of the first, by the second", first, second}, {"of the second, by the first", second, first}, {"of the first, by nobody", first, nobody}, {"of nobody, by the first", nobody, first}} {
			if (m.to == nobody || m.from == nobody) && !open {
				continue // the server wants credentials
			}
			evidence, is, reason := t.moved(move{source: o.flow, target: o.flow, sourceUser: m.from, targetUser: m.to, strict: true})
			if stages := o.flow.stages(); !is && reason == "" && len(stages) > 1 {
				evidence, is, reason = t.moved(move{source: stages[1], target: stages[1], sourceUser: m.from, targetUser: m.to, strict: true})
			}
			if reason != "" {
				t.skip("%s", reason)
				continue
			}
			if is {
				if shown, again := t.shown(o.flow); severity == Critical {
					severity, remark = shown, remark+again
				}
				t.refute(Finding{Case: m.name, Severity: severity, Issue: "a token of one user is accepted from another" + remark, Evidence: m.name + ": " + evidence, Want: "refused", Got: "accepted", Flow: &o.flow})
				return
			}
		}
	}
}
