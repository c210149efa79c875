// Package answers has the checks of questions and answers (revision 2026-07-28,
// basic/patterns/mrtr). They cover declines, answers that a form excludes, additional answers,
// answers of other rounds, and questions that a client does not support.
package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Checks returns the checks of questions and answers, in the order in which they run.
func Checks() []review.Check {
	return slices.Concat(roundChecks, declineChecks, earlyChecks, formChecks)
}

// roundChecks are the checks of questions, and of the requests that follow them.
var roundChecks = []review.Check{
	{
		ID: "RS-CAP", Name: "a question that the client did not declare support for", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent: "the first call, and a token of each later round, with clientCapabilities {}, and with support only for " +
			"elicitation in form mode; the first call with support only for URL mode, and with every capability " +
			"except the one that the question needs",
		Want:   "answers error -32021 with requiredCapabilities, or asks no question",
		Source: "revision 2026-07-28, basic, client capabilities",
		Impact: "the client receives a question that it cannot show to its user, and the flow ends",
		Fix:    "check clientCapabilities before asking, and answer -32021 with requiredCapabilities",
		Run:    checkCapabilities,
	},
	{
		ID: "RS-ASKAGAIN", Name: "a good state without answers", Flow: true, Severity: review.Critical, Category: "reliability",
		Sent: "a good token without inputResponses, and with inputResponses {}; with --effects, in rounds with several " +
			"questions, all answers but one, or but those to the other questions with the same form, and a decline of each",
		Want:   "repeats the question",
		Source: review.SourceMRTR,
		Impact: "a client that lost an answer cannot continue; or the server acts although nobody agreed",
		Fix:    "repeat the questions whose answers are missing; compare the answers with the list of questions, and not the reverse",
		Timed:  true, Run: checkMissingAnswers,
	},
	{
		ID: "RS-EXTRA", Name: "an answer to a question that was not asked", Flow: true, Severity: review.Warning, Category: "security",
		Sent: "a good token with the expected answers and one more, under an unknown key; with --effects and " +
			"--second, each user's answers with one more, to a question or a member of a form that the same call " +
			"asks only of the other user, with values that its forms allow only the other user, and with values like " +
			"these that they allow nobody",
		Want:   "ignores the additional answer; asks again for the value",
		Source: review.SourceMRTR,
		Impact: "a client that sends an additional answer is refused; or a user takes a choice that the server keeps " +
			"for others",
		Fix:   "read only the answers to the questions that the state says were asked, and validate them against the form that was sent",
		Timed: true, Run: checkExtraAnswer,
	},
	{
		ID: "RS-WHERE", Name: "a state in a request that takes none", Flow: true, Severity: review.Suggestion, Category: "schema",
		Sent:   "tools/list with a requestState",
		Want:   "returns the list",
		Source: review.SourceMRTR,
		Impact: "the request for a list is refused or answered by a question",
		Fix:    "ignore requestState outside tools/call, prompts/get and resources/read",
		Run:    checkStateInList,
	},
}

// partialCapabilities are declarations of a client, each with the questions that it allows.
var partialCapabilities = []struct {
	declared string
	allows   func(client.Question) bool
}{
	{`{}`, func(client.Question) bool { return false }},
	{urlsAlone, func(q client.Question) bool { return q.Method == "elicitation/create" && q.Params.Mode == "url" }},
	{`{"elicitation":{"form":{}}}`, func(q client.Question) bool { return q.Method == "elicitation/create" && q.Params.Mode != "url" }},
}

// urlsAlone are the capabilities of a client that takes URLs and no forms.
const urlsAlone = `{"elicitation":{"url":{}}}`

func checkCapabilities(t *review.T) {
	if len(t.Oracle.Fresh.Questions) == 0 {
		t.Skip("the first question asks for no input")
		return
	}
	for _, c := range partialCapabilities {
		call := t.Oracle.Flow.Call(t.Oracle.User)
		call.Capabilities = json.RawMessage(c.declared)
		a := t.Call(call)
		if !t.Counted(a) {
			return
		}
		if asksBeyond(a, c.allows) {
			t.Refute(review.Finding{Case: c.declared, Severity: review.Warning, Issue: "a client that declares " + c.declared + " is asked", Evidence: review.ExchangeText(a), Want: "-32021", Got: "asked"})
			return
		}
	}
	for _, o := range t.Oracles {
		if presentWithoutCapabilities(t, o) || callWithoutCapability(t, o) {
			return
		}
	}
}

// asksBeyond reports whether an answer has a question that is not allowed.
func asksBeyond(a client.Answer, allows func(client.Question) bool) bool {
	for _, q := range a.Questions {
		if !allows(q) {
			return true
		}
	}
	return false
}

// callWithoutCapability makes the first call with every capability except that of one question.
func callWithoutCapability(t *review.T, o *review.Oracle) bool {
	for _, key := range jsondoc.SortedKeys(o.Fresh.Questions) {
		kind := o.Fresh.Questions[key].Method
		name, _, _ := strings.Cut(kind, "/")
		label := "without " + name
		call := o.Flow.Call(o.User)
		call.Capabilities = jsondoc.Object(jsondoc.Without(jsondoc.Members(json.RawMessage(client.EveryCapability)), name))
		if !t.Selected(label) {
			continue
		}
		a := t.Tried(t.Call(call))
		for _, q := range a.Questions {
			if q.Method == kind {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a client that does not declare " + name + " gets " + kind,
					Evidence: review.ExchangeText(a), Want: "-32021", Got: "asked", Flow: &o.Flow})
				return true
			}
		}
	}
	return false
}

// presentWithoutCapabilities presents the token of each round with few capabilities. It sends the
// answers of earlier rounds and omits those of the last round, which the server then repeats.
func presentWithoutCapabilities(t *review.T, o *review.Oracle) bool {
	for i, f := range o.Flow.Stages() {
		if i == 0 {
			f.Last = nil
		}
		for _, c := range partialCapabilities {
			if c.declared == urlsAlone {
				continue // a flow that began with forms may go on with them
			}
			label := fmt.Sprintf("%s in round %d of %s", c.declared, len(f.Rounds)+2, f.Target)
			if !t.Selected(label) {
				continue
			}
			_, question, err := t.Client.Mint(t.Context, f, o.User)
			if err != nil {
				continue
			}
			call := t.Client.Reply(f.Call(o.User), question, f.Last)
			call.Capabilities = json.RawMessage(c.declared)
			if a := t.Tried(t.Call(call)); a.Kind == client.Asked && asksBeyond(a, c.allows) {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a client that declares " + c.declared + " with a state is asked",
					Evidence: review.ExchangeText(a), Want: "-32021", Got: "asked", Flow: &o.Flow})
				return true
			}
		}
	}
	return false
}

func checkMissingAnswers(t *review.T) {
	if len(t.Oracle.Fresh.Questions) == 0 {
		t.Skip("the question asks for no input")
		return
	}
	f := t.Oracle.Flow.WithLast(nil)
	for _, answers := range []json.RawMessage{nil, json.RawMessage("{}")} {
		token, question, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if t.SkipOn(err) {
			return
		}
		f.Last = answers
		a := t.PresentIn(f, jsondoc.Quote(token))
		if !t.Counted(a) {
			return
		}
		if a.Kind == client.Asked {
			continue
		}
		found := review.Finding{Case: "answers " + string(answers), Severity: review.Suggestion, Issue: "a good token without answers is not asked again",
			Evidence: fmt.Sprintf("after %v: %v", question, a), Want: "asked", Got: string(a.Kind)}
		if t.Options.Effects && a.Kind == client.Completed && t.Oracle.Alike(a) {
			found.Severity, found.Issue = review.Critical, "a good token without answers is carried out as an acceptance"
		}
		t.Refute(found)
		return
	}
	leaveOutAnswers(t)
}

func checkExtraAnswer(t *review.T) {
	extra := `{"action":"decline"}`
	if t.Options.Effects {
		extra = `{"action":"accept","content":{"probe":true}}`
	}
	answers := jsondoc.WithMember(t.Oracle.Flow.Last, "sealab-extra", json.RawMessage(extra))
	a, reason := t.PresentAnswers(answers)
	if t.SkipFor(reason) {
		return
	}
	if !t.Counted(a) {
		return
	}
	if a.Refused() {
		t.Refute(review.Finding{Case: "one more", Severity: review.Suggestion, Issue: "an answer that was not asked for is refused",
			Evidence: fmt.Sprintf("answers %s -> %v", answers, a), Want: "ignored", Got: "refused"})
		return
	}
	giveOthersAnswers(t)
}

func checkStateInList(t *review.T) {
	if len(t.Report.Server.Tools) == 0 {
		t.Skip("the server lists no tools")
		return
	}
	a := t.Call(client.Call{Method: "tools/list", State: jsondoc.Quote(review.GarbageState)})
	if !t.Counted(a) {
		return
	}
	if a.Kind != client.Completed {
		t.Refute(review.Finding{Case: "tools/list", Severity: review.Suggestion, Issue: "tools/list with a requestState gives no list",
			Evidence: review.ExchangeText(a), Want: "completed", Got: string(a.Kind)})
	}
}
