// Package binding has the checks of the call that requestState belongs to (revision 2026-07-28,
// basic/patterns/mrtr): its arguments, target, method and user, and the changes between its rounds.
package binding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Checks returns the checks of the request that a state belongs to, in the order in which they run.
func Checks() []review.Check { return bindingChecks }

// bindingChecks are the checks of the request that a state belongs to.
var bindingChecks = []review.Check{
	{
		ID: "RS-ARGS", Name: "a state with other arguments", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the token of a call in the same call with one argument changed, also in each branch of a flow; with pairs of arguments that weak " +
			"digests confuse: empty and absent values, members that the schema does not name, truncated texts, " +
			"joined texts, parts of texts that move to another one, rounded numbers, values with equal hashes, equal values " +
			"under other names, values that differ only in case, spaces or normal form, given texts with a letter that becomes " +
			"another one in upper case, lower case or a compatibility form, lists turned round; with one " +
			"argument given twice; readable tokens in which a character moves from one value to another, as it does in the arguments; also tokens of the first round, and tokens of later rounds without answers, then the states they are exchanged for; with --effects two interleaved calls of one tool, with other arguments or other answers; " +
			"between the rounds of a call, other things that a tool adds, or that the call ends, the text that its " +
			"question shows, and the things that the call uses up, of which its question shows a sum; the token in its own call again after other arguments had it refused",
		Want:   "refuses the token, which stays good for its own call",
		Source: review.SourceMRTR + ", SHOULD bind to the request",
		Impact: "the user confirms one call and the server carries out another",
		Fix:    review.FixBind,
		Run:    checkOtherArguments,
	},
	{
		ID: "RS-APPROVAL", Name: "an approval of other arguments", Effects: true, Era: "modern", Severity: review.Warning, Category: "security",
		Sent: "before the first acceptance, calls of each tool with other values that the schema lists for an argument; " +
			"the same calls again after it",
		Want:   "asks again if the question shows the value",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the user approves one call, and the server carries out others without a question",
		Fix:    "remember an approval together with all arguments that its question shows",
		Run:    checkRemembered,
	},
	{
		ID: "RS-TOOL", Name: "a state of another tool, prompt or resource", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the token of one tool, prompt or resource in a call of another one, in both directions, also " +
			"between rounds and with equal arguments; with --effects, tokens from and to further tools that say that " +
			"they ask, which are declined",
		Want:   "refuses the token",
		Source: review.SourceMRTR + ", SHOULD bind to the request",
		Impact: "the user confirms one tool, prompt or resource and the server uses another",
		Fix:    review.FixBind,
		Run:    checkOtherTool,
	},
	{
		ID: "RS-METHOD", Name: "a state of another method", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the token of tools/call in prompts/get and resources/read, and the reverse; with --effects the " +
			"cursors of lists as requestState",
		Want:   "refuses the token",
		Source: review.SourceMRTR + ", SHOULD bind to the request",
		Impact: "a handler reads a state that another handler wrote and gives it another meaning",
		Fix:    review.FixBind + "; seal cursors under another key or for another purpose",
		Run:    checkOtherMethod,
	},
	{
		ID: "RS-ARGSAME", Name: "the same arguments in another order", Flow: true, Severity: review.Suggestion, Category: "reliability",
		Sent:   "a fresh token in the same call, with the members of arguments in reverse order",
		Want:   "accepts the token",
		Source: "RFC 8259, section 4: members have no order",
		Impact: "a client whose JSON library orders members differently cannot finish the call",
		Fix:    "compute the digest over a canonical form of the arguments (RFC 8785)",
		Timed:  true, Run: checkArgumentOrder,
	},
	{
		ID: "RS-USER", Name: "a state of another user", Flow: true, Severity: review.Critical, Category: "security",
		Sent: "the token of the first user with the credentials of the second, and the reverse; if the server " +
			"answers requests without credentials, also tokens from and to an unauthenticated client; also " +
			"tokens of the first round, of a long argument and of each branch of a flow, and tokens of the first user from a user, or a client without " +
			"credentials, whose own call is refused; with --effects, if a call is no longer asked for once it is carried " +
			"out, calls under new names of the client and with other arguments, of the second user, of the first with his " +
			"consent, and of both again; tokens of the first user of each round from the second without answers, then the states they are exchanged for; the " +
			"token of the first user again after the second had it refused, and after garbage of the second",
		Want:   "refuses the token, which stays good for its owner; asks each user for his own consent",
		Source: review.SourceMRTR + ", SHOULD bind to the user",
		Impact: "a user who obtains a token continues the flow of its owner, or makes another user continue his own",
		Fix:    review.FixBind,
		Over:   "http", Run: checkOtherUser,
	},
}

func checkOtherArguments(t *review.T) {
	if changeBetween(t); len(t.Findings) > 0 {
		return
	}
	if editBetween(t); len(t.Findings) > 0 {
		return
	}
	if fillBetween(t); len(t.Findings) > 0 {
		return
	}
	reason, tried := "", false
	for _, o := range t.Oracles {
		for i, m := range argumentMoves(o.Flow) {
			name := fmt.Sprintf("other arguments of %s", o.Flow.Target)
			if i == 0 && !tried {
				name = "other arguments"
			}
			if !t.Selected(name) {
				continue
			}
			m.SourceUser, m.TargetUser, m.Strict = t.Oracle.User, t.Oracle.User, true
			if tried && i > 0 && refusedOrUnminted(t, o, m) {
				continue
			}
			evidence, is, why := t.Moved(m)
			if tried = true; is {
				refuteArguments(t, name, evidence, o.Flow)
				return
			}
			// The server may refuse close arguments for another reason.
			if i == 0 && why != "" {
				reason = cmp.Or(reason, why)
				break
			}
		}
	}
	moveNearArguments(t)
	testDuplicateArguments(t)
	interleaveCalls(t)
	useUpElsewhere(t)
	switch {
	case !tried:
		t.Skip("%s has no arguments that can be changed; --other gives some", t.Oracle.Flow)
	case reason != "":
		t.Skip("%s", reason)
	}
}

func refuteArguments(t *review.T, name, evidence string, f client.Flow) {
	severity := review.Warning
	if f.Last != nil {
		severity = review.Critical
	}
	t.Refute(review.Finding{Case: name, Severity: severity, Issue: "a token is accepted with other arguments than those it was minted for",
		Evidence: evidence, Want: "refused", Got: "accepted", Flow: &f})
}

func checkOtherTool(t *review.T) {
	tools := 0
	for _, o := range t.Oracles {
		if o.Flow.Method == "tools/call" {
			tools++
		}
	}
	if moved := moveToUncalled(t); len(t.Findings) > 0 {
		return
	} else if tools < 2 && !moved {
		t.Skip("fewer than two tools give a token%s", t.NotCalled())
	}
	another := func(one, two client.Flow) bool {
		return one.Method == two.Method && one.Target != two.Target && !client.AreTwins(one.Offer, two.Offer)
	}
	pairs := flowPairs(t, another)
	apart := len(pairs)
	for _, p := range pairs {
		if earlier := p[0]; len(earlier.Rounds) > 0 {
			earlier.Rounds = nil
			pairs = append(pairs, [2]client.Flow{earlier, p[1]})
		}
	}
	pairs = append(pairs, firstRoundPairs(t, another)...)
	// A token that is bound to its arguments but not to its tool moves only if both tools take the
	// same arguments.
	for _, p := range pairs {
		if one, two, ok := withMergedArguments(t, p[0], p[1]); ok {
			pairs = append(pairs, [2]client.Flow{one, two})
		}
	}
	for i, pair := range pairs {
		name := fmt.Sprintf("from round %d of %s to round %d of %s", len(pair[0].Rounds)+1, pair[0].Target, len(pair[1].Rounds)+1, pair[1].Target)
		if i >= apart && jsondoc.Same(pair[0].Arguments, pair[1].Arguments) {
			name += " with the same arguments"
		}
		if !t.Selected(name) {
			continue
		}
		evidence, is, reason := t.Moved(review.Move{Source: pair[0], Target: pair[1], SourceUser: t.Oracle.User, TargetUser: t.Oracle.User})
		if t.SkipFor(reason) {
			continue
		}
		if is {
			severity, remark := t.AcceptanceSeverity(pair[1])
			t.Refute(review.Finding{Case: name, Severity: severity,
				Issue:    fmt.Sprintf("a token of one %s is accepted by another%s", targetKind(pair[0].Method), remark),
				Evidence: evidence, Want: "refused", Got: "accepted", Flow: &pair[0]})
			return
		}
	}
}

// flowPairs returns the pairs of flows that fit.
func flowPairs(t *review.T, fit func(one, two client.Flow) bool) [][2]client.Flow {
	var all [][2]client.Flow
	for _, one := range t.Oracles {
		for _, two := range t.Oracles {
			if fit(one.Flow, two.Flow) {
				all = append(all, [2]client.Flow{one.Flow, two.Flow})
			}
		}
	}
	return all
}

// firstRoundPairs returns pairs of first rounds of two flows that ask the same question. The second
// flow has a later round, which may accept a token of the first.
func firstRoundPairs(t *review.T, fit func(one, two client.Flow) bool) [][2]client.Flow {
	var all [][2]client.Flow
	for _, one := range t.Oracles {
		for _, two := range t.Oracles {
			if len(two.Flow.Rounds) > 0 && fit(one.Flow, two.Flow) && one.Fresh.Class() == two.Fresh.Class() {
				from, to := one.Flow.Stages(), two.Flow.Stages()
				all = append(all, [2]client.Flow{from[min(1, len(from)-1)], to[1]})
			}
		}
	}
	return all
}

// targetKind returns the kind of target of a method.
func targetKind(method string) string {
	kind, _, _ := strings.Cut(method, "s/")
	return kind
}

// withMergedArguments returns two flows with the arguments of both, and whether both accept them.
func withMergedArguments(t *review.T, one, two client.Flow) (client.Flow, client.Flow, bool) {
	if jsondoc.Same(one.Arguments, two.Arguments) {
		return one, two, false
	}
	one.Arguments = jsondoc.Merged(one.Arguments, two.Arguments)
	two.Arguments = one.Arguments
	return one, two, asksQuestion(t, one) && asksQuestion(t, two)
}

// asksQuestion reports whether the server answers the first call of a flow with a question.
func asksQuestion(t *review.T, f client.Flow) bool {
	return t.Call(f.Call(t.Oracle.User)).Kind == client.Asked
}

func checkOtherMethod(t *review.T) {
	another := func(one, two client.Flow) bool { return one.Method != two.Method }
	pairs := flowPairs(t, another)
	apart := len(pairs)
	pairs = append(pairs, firstRoundPairs(t, another)...)
	if presentCursors(t); len(pairs) == 0 {
		t.Skip("flows of one method alone give tokens")
	}
	for i, pair := range pairs {
		name := fmt.Sprintf("from %s to %s", pair[0], pair[1])
		if i >= apart {
			name += ", first rounds"
		}
		if !t.Selected(name) {
			continue
		}
		m := review.Move{Source: pair[0], Target: pair[1], SourceUser: t.Oracle.User, TargetUser: t.Oracle.User}
		evidence, is, reason := t.Moved(m)
		if one, two, ok := withMergedArguments(t, pair[0], pair[1]); ok && !is {
			m.Source, m.Target = one, two
			evidence, is, reason = t.Moved(m)
		}
		if t.SkipFor(reason) {
			continue
		}
		if is {
			t.Refute(review.Finding{Case: name, Severity: review.Warning, Issue: "a token of one method is accepted by another", Evidence: evidence, Want: "refused", Got: "accepted", Flow: &pair[0]})
			return
		}
	}
}

func checkArgumentOrder(t *review.T) {
	if len(jsondoc.Members(t.Oracle.Flow.Arguments)) < 2 {
		t.Skip("%s has fewer than two arguments", t.Oracle.Flow)
		return
	}
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	f := t.Oracle.Flow.With(jsondoc.Reversed(t.Oracle.Flow.Arguments))
	a := t.PresentIn(f, jsondoc.Quote(token))
	if !t.Counted(a) {
		return
	}
	if t.Oracle.Verdict(a) == review.Refused {
		t.Refute(review.Finding{Case: "another order", Severity: review.Suggestion, Issue: "the same arguments in another order are refused",
			Evidence: fmt.Sprintf("arguments %s, then %s -> %v", t.Oracle.Flow.Arguments, f.Arguments, a), Want: "accepted", Got: "refused"})
	}
}

func checkOtherUser(t *review.T) {
	if len(t.Options.Target.Second) == 0 {
		t.Skip("one user alone is known; --second gives the credentials of another")
		return
	}
	if shareConsents(t); len(t.Findings) > 0 {
		return
	}
	if presentAsUnasked(t); len(t.Findings) > 0 {
		return
	}
	severity, remark := review.Critical, ""
	if known := t.Call(t.Oracle.Flow.Call(client.Stranger)); !known.Refused() {
		severity, remark = review.Warning, "; made-up credentials are answered as well, so that the server checks none"
	}
	open := severity == review.Warning || t.Call(t.Oracle.Flow.Call(client.Nobody)).Kind == client.Asked
	for _, o := range t.Oracles {
		for _, m := range []struct {
			name     string
			from, to client.User
		}{{"of the first, by the second", client.FirstUser, client.SecondUser}, {"of the second, by the first", client.SecondUser, client.FirstUser},
			{"of the first, by nobody", client.FirstUser, client.Nobody}, {"of nobody, by the first", client.Nobody, client.FirstUser}} {
			if (m.to == client.Nobody || m.from == client.Nobody) && !open {
				continue // the server requires credentials
			}
			flows := []client.Flow{o.Flow}
			if stages := o.Flow.Stages(); len(stages) > 1 {
				flows = append(flows, stages[1])
			}
			short := len(flows)
			if long := longArguments(o.Flow); long != nil && m.to == client.SecondUser {
				flows = append(flows, o.Flow.With(long))
			}
			evidence, is, reason := "", false, ""
			for i, f := range flows {
				var why string
				if evidence, is, why = t.Moved(review.Move{Source: f, Target: f, SourceUser: m.from, TargetUser: m.to, Strict: true}); i < short {
					reason = why // the server may refuse a long argument or another answer
				}
				if is || reason != "" {
					break
				}
			}
			if t.SkipFor(reason) {
				continue
			}
			if is {
				if shown, again := t.AcceptanceSeverity(o.Flow); severity == review.Critical {
					severity, remark = shown, remark+again
				}
				t.Refute(review.Finding{Case: m.name, Severity: severity, Issue: "a token of one user is accepted from another" + remark,
					Evidence: m.name + ": " + evidence, Want: "refused", Got: "accepted", Flow: &o.Flow})
				return
			}
		}
	}
	showsQuestions(t)
	for _, o := range t.Oracles {
		useUp(t, "a state of "+o.Flow.Target+" after another user", review.Move{Source: o.Flow, Target: o.Flow, SourceUser: client.FirstUser, TargetUser: client.SecondUser})
	}
}

// longArguments returns the arguments of a flow with a long text, or nil. A server may store a long
// state in another place.
func longArguments(f client.Flow) json.RawMessage {
	for _, n := range []int{4000, 1000} {
		if long := f.ArgumentsWith(strings.Repeat("a", n)); long != nil {
			return long
		}
	}
	return nil
}

// presentCursors presents the cursors of lists as states, because a server may seal both alike.
func presentCursors(t *review.T) {
	for _, method := range jsondoc.SortedKeys(t.Report.Server.Lists) {
		if _, cursor := client.OffersIn(t.Report.Server.Lists[method], ""); cursor == "" || len(t.Findings) > 0 {
			continue
		}
		t.PresentOtherText("a cursor of "+method, func() string {
			_, cursor := client.OffersIn(t.Call(client.Call{Method: method}), "")
			return cursor
		})
	}
}
