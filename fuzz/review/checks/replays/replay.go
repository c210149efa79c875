package replays

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

func checkReplay(t *review.T) {
	if refuteSpares(t); len(t.Oracles) == 0 {
		t.Skip("%s", t.NoFlow())
		return
	}
	t.Oracle = t.Oracles[0]
	checkUsedTokens(t)
}

// checkUsedTokens presents used tokens.
func checkUsedTokens(t *review.T) {
	t.Prefer(t.OneTime)
	preferWorking(t)
	if t.Oracle.Good.Kind != client.Completed && (!t.OneTime(t.Oracle.Flow) || t.Oracle.Flow.Last == nil) {
		t.Skip("the round does not run the tool to its end")
		return
	}
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	one := t.PresentText(token)
	two := t.Tried(t.PresentText(token))
	if !one.Conclusive() || !two.Conclusive() || t.Oracle.Verdict(one) != review.Accepted {
		t.Skip("control: %v, then %v", one, two)
		return
	}
	if t.Oracle.Verdict(two) != review.Accepted {
		replayConcurrently(t)
		replayInOtherSpellings(t)
		replayWithExtraAnswer(t, token)
		replayWithOtherAnswers(t)
		replayFirstRound(t)
		replayUnderOtherName(t)
		replayAfterOthers(t, token)
		return
	}
	f := review.Finding{Case: "twice", Severity: review.Suggestion, Issue: "a token is accepted twice (a property; it is a fault if the tool must run once)",
		Evidence: fmt.Sprintf("first %v, then %v", one, two), Want: "accepted once", Got: "accepted twice"}
	kept := t.OneTime(t.Oracle.Flow) && keepsResult(t, one, two)
	again, after := "", ""
	if kept {
		if after = runsAgainAfterOthers(t); after == "" {
			again = runsAgainBesideKept(t)
		}
	}
	switch {
	case after != "":
		f.Case, f.Severity, f.Evidence = "kept, after others", review.Critical, after
		f.Issue = "a used token of a tool for one use is carried out again after other ones, although it gets the kept result before"
	case again != "":
		f.Case, f.Severity, f.Evidence = "kept, with other answers", review.Critical, again
		f.Issue = "a used token of a tool for one use is carried out again with other answers, although the same answers get the kept result"
	case kept:
		f.Issue = "a token of a tool for one use is answered twice by one result, and others by other results: a fault unless the server has kept it"
	case t.OneTime(t.Oracle.Flow) && string(one.Result) == string(two.Result) && (keepsResultAfterDecline(t, token) || keepsRoundState(t)):
		f.Issue = "a token of a tool for one use is answered twice by one result, whatever the second request says: a fault unless the server has kept it"
	case t.OneTime(t.Oracle.Flow) && keepsReceipt(t, one):
		f.Issue = "every token of a user for one use gets one result with a receipt, which is another one for another user: a fault unless the server has kept it"
	case t.OneTime(t.Oracle.Flow):
		f.Severity, f.Issue = review.Critical, "a token of a tool for one use is accepted twice"
	}
	t.Refute(f)
}

// preferWorking continues with the other user if the flow for one use is no longer carried out for its own:
// the account of that user may be empty after so many calls.
func preferWorking(t *review.T) {
	o := t.Oracle
	if !t.OneTime(o.Flow) || !o.Completes() || len(t.Options.Target.Second) == 0 || o.User != client.FirstUser {
		return
	}
	works := true
	for range 2 { // a token that is accepted twice
		a := t.Fresh(o.Flow, o.User)
		works = works && a.Kind == client.Completed && o.Verdict(a) == review.Accepted
	}
	if works {
		return
	}
	if other, reason := t.NewOracle(t.Context, o.Flow, client.SecondUser); reason == "" && other.Completes() {
		t.Oracle = other
	}
}

// keepsResult reports whether two answers to one token are the same result and those to other
// tokens differ. A server may keep results for clients that lost one.
func keepsResult(t *review.T, one, two client.Answer) bool {
	seen := map[string]bool{string(one.Result): true}
	for range review.Repetitions {
		token, reason := t.Mint()
		if reason != "" {
			return false
		}
		a := t.Tried(t.PresentText(token))
		if a.Kind != client.Completed || seen[string(a.Result)] {
			return false
		}
		seen[string(a.Result)] = true
	}
	return one.Kind == client.Completed && string(one.Result) == string(two.Result)
}

// keepsResultAfterDecline reports whether a used token gets its earlier result although the user
// now declines, and a fresh token does not.
func keepsResultAfterDecline(t *review.T, used string) bool {
	if fresh, reason := t.PresentAction("decline", false); reason != "" || fresh.Kind != client.Completed || t.Oracle.Alike(fresh) {
		return false
	}
	f := t.Oracle.Flow
	f.Last, _ = review.WithAction(f.Last, "decline", false)
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(used)))
	return a.Kind == client.Completed && t.Oracle.Alike(a)
}

// keepsRoundState reports whether a token of an earlier round gives one state twice, and another
// token another state.
func keepsRoundState(t *review.T) bool {
	if len(t.Oracle.Flow.Rounds) == 0 {
		return false
	}
	f := t.Oracle.Flow.Stages()[1]
	var states []string
	for range 2 {
		token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if err != nil {
			return false
		}
		for range 2 {
			a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
			if a.Kind != client.Asked || a.State == nil {
				return false
			}
			states = append(states, *a.State)
		}
	}
	return states[0] == states[1] && states[2] == states[3] && states[0] != states[2]
}

// runsAgainBesideKept presents used tokens, whose results are kept, with other answers. It reports how they are
// carried out again, or "". Some servers keep a result for the token and its answers together.
func runsAgainBesideKept(t *review.T) (evidence string) {
	extra := withExtraAnswer(t.Oracle.Flow)
	for _, other := range append([]json.RawMessage{extra}, otherAnswers(t)...) {
		for n := range 2 {
			token, reason := t.Mint()
			if t.SkipFor(reason) {
				return ""
			}
			first, a := t.PresentText(token), t.PresentIn(t.Oracle.Flow.WithLast(other), jsondoc.Quote(token))
			kept := t.PresentText(token)
			if !t.CountedAs("a used token with other answers", a) {
				return ""
			}
			if string(kept.Result) != string(first.Result) || !isNewRun(t, first, a, string(other) == string(extra)) {
				break
			}
			evidence = fmt.Sprintf("answers %s -> %v; then answers %s -> %v; then the first ones -> %v", t.Oracle.Flow.Last, first, other, a, kept)
			if n == 1 {
				return evidence
			}
		}
	}
	return ""
}

// runsAgainAfterOthers presents used tokens, whose results are kept, after others. It reports how they are carried out
// again, or "". Some servers keep the latest result alone.
func runsAgainAfterOthers(t *review.T) (evidence string) {
	const others = 2
	for range 2 {
		token, reason := t.Mint()
		if reason != "" {
			return ""
		}
		first, kept := t.PresentText(token), t.PresentText(token)
		for range others {
			t.Fresh(t.Oracle.Flow, t.Oracle.User)
		}
		a := t.Tried(t.PresentText(token))
		if string(kept.Result) != string(first.Result) || !isNewRun(t, first, a, true) {
			return ""
		}
		evidence = fmt.Sprintf("first %v, then %v; after %d other tokens -> %v", first, kept, others, a)
	}
	return evidence
}

// isNewRun reports whether an answer to a used token is the result of a new run: it is like the first result
// and not the same one, or, to other answers, has other numbers.
func isNewRun(t *review.T, first, a client.Answer, sameAnswers bool) bool {
	if a.Kind != client.Completed || t.Oracle.Verdict(a) != review.Accepted || string(a.Result) == string(first.Result) {
		return false
	}
	if sameAnswers {
		return t.Oracle.Alike(a)
	}
	one, two := numeral.FindAllString(first.Text, -1), numeral.FindAllString(a.Text, -1)
	return t.Oracle.ResemblesGood(a) && len(one) == len(two) && !slices.Equal(one, two)
}

// numeral matches a number in the text of a result.
var numeral = regexp.MustCompile(`\d+`)

// withExtraAnswer returns the last answers of a flow and one more, to a question that was not asked.
func withExtraAnswer(f client.Flow) json.RawMessage {
	return jsondoc.WithMember(f.Last, "sealab-extra", json.RawMessage(`{"action":"decline"}`))
}

// replayWithExtraAnswer presents a used token with one more answer. Some servers remember the
// request instead of the token.
func replayWithExtraAnswer(t *review.T, used string) {
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 || !t.Oracle.Completes() {
		return
	}
	f := t.Oracle.Flow.WithLast(withExtraAnswer(t.Oracle.Flow))
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(used)))
	if a.Kind == client.Completed && t.Oracle.Verdict(a) == review.Accepted && t.Oracle.Alike(a) {
		t.Refute(review.Finding{Case: "used, with one more answer", Severity: review.Critical, Issue: "a used token is accepted again with other answers",
			Evidence: fmt.Sprintf("the same answers again: refused; answers %s -> %v", f.Last, a), Want: "refused", Got: "accepted"})
	}
}

// replayInOtherSpellings presents a used token in other spellings. It records a finding if a spelling
// is accepted of two tokens, and garbage is refused. Some servers remember a token by its text.
func replayInOtherSpellings(t *review.T) {
	const name = "used, in another spelling"
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 || t.Oracle.Presence || !t.Selected(name) {
		return
	}
	spelling, _ := acceptedSpelling(t, "")
	if spelling == "" {
		return
	}
	again, evidence := acceptedSpelling(t, spelling)
	if again == "" || t.VerdictOn(review.GarbageState) != review.Refused {
		return
	}
	t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "a used token is accepted again in another spelling: " + spelling,
		Evidence: evidence, Want: "refused", Got: "accepted"})
}

// acceptedSpelling uses a fresh token up and presents it in the named spelling, or in all of them if
// the name is "". It returns the name of the first spelling that is accepted, or "".
func acceptedSpelling(t *review.T, name string) (accepted, evidence string) {
	token, spent := t.UsedToken()
	if !spent {
		return "", ""
	}
	for _, v := range append(tokens.Spellings(token), tokens.Variant{Name: "escaped", Raw: tokens.Escaped(token)}) {
		if name != "" && v.Name != name {
			continue
		}
		if a := t.Tried(t.Present(v.State())); t.Oracle.Verdict(a) == review.Accepted {
			return v.Name, fmt.Sprintf("the token %s: accepted, then refused; %s -> %v", client.Short(token, 100), client.Short(string(v.State()), 140), a)
		}
	}
	return "", ""
}

// replayWithOtherAnswers presents used tokens with other valid answers, and with the same ones in
// another spelling. Some servers remember a token together with its answer.
func replayWithOtherAnswers(t *review.T) {
	if !t.OneTime(t.Oracle.Flow) || !t.Oracle.Completes() {
		return
	}
	for _, other := range otherAnswers(t) {
		if _, first := runsAgain(t, other); !first || len(t.Findings) > 0 {
			continue
		}
		if a, second := runsAgain(t, other); second {
			t.Refute(review.Finding{Case: "used, with another answer", Severity: review.Critical, Issue: "a used token is accepted again with another answer",
				Evidence: fmt.Sprintf("answers %s: accepted, then refused; answers %s -> %v", t.Oracle.Flow.Last, other, a), Want: "refused", Got: "accepted"})
		}
	}
}

// runsAgain presents a fresh token twice, and then with other answers. It reports whether the second
// answer is a refusal, and the third is like the first except for words of the answers.
func runsAgain(t *review.T, other json.RawMessage) (a client.Answer, again bool) {
	token, spent := t.UsedToken()
	if !spent {
		return a, false
	}
	f := t.Oracle.Flow.WithLast(other)
	a = t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
	return a, a.Kind == client.Completed && t.Oracle.Verdict(a) == review.Accepted && (t.Oracle.Alike(a) || t.Oracle.ResemblesGood(a))
}

// firstCharacter matches the beginning of a text that is a value.
var firstCharacter = regexp.MustCompile(`:"[a-zA-Z]`)

// otherAnswers returns the answers of the last round with another text or number, those with other
// values of lists and booleans, and the same ones with an escape in each text.
func otherAnswers(t *review.T) []json.RawMessage {
	last := jsondoc.Members(t.Oracle.Flow.Last)
	questions := map[string]client.Question{}
	var all []json.RawMessage
	for _, key := range jsondoc.SortedKeys(last) {
		questions[key] = t.Client.Newest[key]
		if content, _ := jsondoc.OtherContent(jsondoc.At(last[key], "content"), questions[key].Form()); content != nil {
			all = append(all, jsondoc.Object(jsondoc.With(last, key, jsondoc.WithMember(last[key], "content", content))))
		}
	}
	escaped := firstCharacter.ReplaceAllFunc(t.Oracle.Flow.Last, func(begin []byte) []byte { return fmt.Appendf(nil, `:"\u%04x`, begin[2]) })
	all = append(append(all, review.AnswersTo(questions)...), escaped)
	return slices.DeleteFunc(all, func(other json.RawMessage) bool { return string(other) == string(t.Oracle.Flow.Last) })
}

// replayFirstRound walks from one token of the first round to the end, twice, and does so with two tokens.
func replayFirstRound(t *review.T) {
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 || len(t.Oracle.Flow.Rounds) == 0 || t.Oracle.Good.Kind != client.Completed {
		return
	}
	var one, two client.Answer
	for range 2 {
		var again bool
		if one, two, again = endsTwice(t); !again {
			return
		}
	}
	f := review.Finding{Case: "from the first round", Severity: review.Warning,
		Issue:    "one token of the first round of a tool for one use leads to its end twice, with an answer to the last question each time",
		Evidence: fmt.Sprintf("first %v, then %v, and the same from another token", one, two), Want: "refused", Got: "accepted"}
	if keepsResult(t, one, two) {
		f.Severity, f.Issue = review.Suggestion, f.Issue+", with one result: a fault unless the server has kept it"
	}
	t.Refute(f)
}

// endsTwice walks from a new token of the first round to the end, twice. It reports whether both walks have
// the result of a good token.
func endsTwice(t *review.T) (one, two client.Answer, is bool) {
	f := t.Oracle.Flow
	_, asked, err := t.Client.Mint(t.Context, f.Stages()[1], t.Oracle.User)
	if err != nil {
		return one, two, false
	}
	one, _ = t.Client.Continue(t.Context, f.Call(t.Oracle.User), asked, f.Answers())
	two, _ = t.Client.Continue(t.Context, f.Call(t.Oracle.User), asked, f.Answers())
	t.Trials++
	return one, two, one.Kind == client.Completed && two.Kind == client.Completed && t.Oracle.Alike(one) && t.Oracle.Alike(two)
}

// manyOthers is the number of tokens that are used before a used one is presented again.
const manyOthers = 130

// replayAfterOthers presents a used token again after others were used.
func replayAfterOthers(t *review.T, used string) {
	if !t.OneTime(t.Oracle.Flow) || len(t.Findings) > 0 {
		return
	}
	for range manyOthers {
		if token, reason := t.Mint(); reason != "" || t.VerdictOn(token) != review.Accepted {
			return
		}
	}
	if a := t.Tried(t.PresentText(used)); t.Oracle.Verdict(a) == review.Accepted {
		t.Refute(review.Finding{Case: "used, after others", Severity: review.Critical, Issue: fmt.Sprintf("a used token is accepted again after %d others were used", manyOthers),
			Evidence: fmt.Sprintf("accepted, refused, and after %d others: %v", manyOthers, a), Want: "refused", Got: "accepted"})
	}
}

// replayConnections is the number of connections that present one token at the same time.
const replayConnections = 8

// replayConcurrently presents one token over several connections at the same time. At most one may
// be accepted.
func replayConcurrently(t *review.T) {
	if t.Client.HTTP == nil && !t.Modern() {
		return
	}
	severity := review.Warning
	if t.OneTime(t.Oracle.Flow) {
		severity = review.Critical
	}
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	call := t.Client.Presenting(t.Oracle.Flow, jsondoc.Quote(token), t.Oracle.User)
	answers := t.Together(slices.Repeat([]client.Call{call}, replayConnections))
	n := 0
	for _, a := range answers {
		if a.Kind != "" && t.Oracle.Verdict(a) == review.Accepted {
			n++
		}
	}
	t.Trials++
	if n > 1 {
		t.Refute(review.Finding{Case: "eight at once", Severity: severity, Issue: fmt.Sprintf("a token for one use is accepted %d times of %d at once", n, replayConnections),
			Evidence: fmt.Sprintf("one after the other: accepted, then refused; %d at once: accepted %d times", replayConnections, n), Want: "accepted once", Got: "accepted more than once"})
	}
}
