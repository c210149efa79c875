package state

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// rounds are the checks of the protocol around a state.
var rounds = []review.Check{
	{
		ID: "RS-CAP", Name: "a question to a client that cannot answer", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent: "the call, and each later round, with clientCapabilities {}; " +
			"the call with elicitation of URLs alone, and without the capability of one question",
		Want:   "error -32021 that names the capability, or no question",
		Source: "revision 2026-07-28, basic, client capabilities",
		Impact: "the client gets a question that it cannot put to anybody, and the flow ends there",
		Fix:    "look at clientCapabilities before asking, and answer -32021 with requiredCapabilities",
		Run:    capability,
	},
	{
		ID: "RS-ASKAGAIN", Name: "a state without answers", Flow: true, Severity: review.Critical, Category: "reliability",
		Sent:   "a good token without inputResponses and with {}",
		Want:   "the same question",
		Source: review.SourceMRTR,
		Impact: "a client that lost an answer cannot go on; or nobody agreed, and it is done",
		Fix:    "ask again if an answer is missing",
		Timed:  true, Run: askAgain,
	},
	{
		ID: "RS-EXTRA", Name: "an answer that was not asked for", Flow: true, Severity: review.Suggestion, Category: "reliability",
		Sent:   "a good token with one more answer",
		Want:   "ignored",
		Source: review.SourceMRTR,
		Impact: "a client that sends more is refused",
		Fix:    "ignore unknown keys of inputResponses",
		Timed:  true, Run: extraAnswer,
	},
	{
		ID: "RS-WHERE", Name: "a state where none belongs", Flow: true, Severity: review.Suggestion, Category: "schema",
		Sent:   "tools/list with a requestState",
		Want:   "the list",
		Source: review.SourceMRTR,
		Impact: "a list asks for input, or is refused",
		Fix:    "ignore requestState outside tools/call, prompts/get and resources/read",
		Run:    where,
	},
	{
		ID: "RS-DECLINE", Name: "a refusal of the user that is carried out", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent:   "decline, cancel, decline with the content of an acceptance, an unknown action, none; an acceptance under another key",
		Want:   "no effect of an acceptance",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user said no",
		Fix:    "look at action before content",
		Run:    decline,
	},
	{
		ID: "RS-FORM", Name: "an answer that its form does not allow", Flow: true, Effects: true, Severity: review.Critical, Category: "schema",
		Sent: "answers of another type or kind, beside the list, the bounds or the length of the form, " +
			"without a required boolean, and with members that are named as the arguments, and as numbers of the result, in four places; " +
			"in the last round another answer to an earlier question",
		Want:   "asked again, or -32602; other members ignored",
		Source: review.SourceMRTR + ", SHOULD validate",
		Impact: "the handler works on values that its form excludes",
		Fix:    "validate answers against the form that was sent",
		Run:    wrongForm,
	},
	{
		ID: "RS-PROTO", Name: "an answer with the name of a prototype", Era: "modern", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent:   "answers with members named __proto__ and constructor in three places, and requests without a member that those supply",
		Want:   "refused or ignored, and other requests are answered as before",
		Source: "CWE-1321",
		Impact: "a client changes the objects of other requests",
		Fix:    "read answers by the names of the form alone",
		Run:    prototypeAnswers,
	},
	{
		ID: "RS-SIZE", Name: "a state that is too long", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent: "questions left unanswered, states of 16 KiB and 60 KiB, states nested deeply, larger numbers in a token; " +
			"with --effects 60 and 240 kB of one character, 1 MB, 4 MB, a million full stops, a token and a million line feeds, " +
			"and packed states that inflate to 128 MiB",
		Want:   "refused, and the server goes on to answer",
		Source: "RFC 9110, section 15.5.14",
		Impact: "one request stops the server",
		Fix:    "bound the length of a state before it is decoded",
		Run:    sizes,
	},
	{
		ID: "RS-TAKEBACK", Name: "a state that its own server refuses", Flow: true, Severity: review.Warning, Category: "reliability",
		Sent:   "calls with longer and longer arguments; each token is presented at once",
		Want:   "accepted, or not minted",
		Source: review.SourceMRTR,
		Impact: "a flow with a long argument can never be finished",
		Fix:    "refuse to mint a token that is longer than what is accepted back; keep large states on the server",
		Timed:  true, Run: takeBack,
	},
}

func capability(t *review.T) {
	for _, declared := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		if len(t.Oracle.Fresh.Questions) == 0 {
			t.Skip("the first question asks for no input")
			return
		}
		if declared != "{}" && !formsOnly(t) {
			continue
		}
		call := t.Oracle.Flow.Call(t.Oracle.User)
		call.Capabilities = json.RawMessage(declared)
		a := t.Call(call)
		if !a.Conclusive() {
			t.Skip("%v", a)
			return
		}
		t.Trials++
		if a.Kind == client.Asked && len(a.Questions) > 0 {
			t.Refute(review.Finding{Case: declared, Severity: review.Warning, Issue: "a client that declares " + declared + " is asked", Evidence: review.ExchangeText(a), Want: "-32021", Got: "asked"})
			return
		}
	}
	for _, o := range t.Oracles {
		if capabilityLater(t, o) || capabilityMissing(t, o) {
			return
		}
	}
}

// capabilityMissing makes the first call with every capability except that of one question.
func capabilityMissing(t *review.T, o *review.Oracle) bool {
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

// capabilityLater presents the token of each round without capabilities. It sends the answers of
// earlier rounds and omits those of the last round, which the server then repeats.
func capabilityLater(t *review.T, o *review.Oracle) bool {
	for i, f := range o.Flow.Stages() {
		label := fmt.Sprintf("{} in round %d of %s", len(f.Rounds)+2, f.Target)
		if i == 0 {
			f.Last = nil
		}
		token, question, err := t.Client.Mint(t.Context, f, o.User)
		if err != nil || !t.Selected(label) {
			continue
		}
		call := f.Call(o.User)
		call.State, call.Capabilities = jsondoc.Quote(token), json.RawMessage("{}")
		if f.Last != nil {
			call.Answers = t.Client.Rekeyed(f.Last, question.Questions)
		}
		if a := t.Tried(t.Call(call)); a.Kind == client.Asked && len(a.Questions) > 0 {
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "a client that declares {} with a state is asked",
				Evidence: review.ExchangeText(a), Want: "-32021", Got: "asked", Flow: &o.Flow})
			return true
		}
	}
	return false
}

// formsOnly reports whether the first question consists of forms.
func formsOnly(t *review.T) bool {
	for _, q := range t.Oracle.Fresh.Questions {
		if q.Method != "elicitation/create" || q.Params.Mode == "url" {
			return false
		}
	}
	return true
}

func askAgain(t *review.T) {
	if len(t.Oracle.Fresh.Questions) == 0 {
		t.Skip("the question asks for no input")
		return
	}
	f := t.Oracle.Flow
	f.Last = nil
	for _, answers := range []json.RawMessage{nil, json.RawMessage("{}")} {
		token, question, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if t.SkipOn(err) {
			return
		}
		f.Last = answers
		a := t.PresentIn(f, jsondoc.Quote(token))
		if !a.Conclusive() {
			t.Skip("%v", a)
			return
		}
		t.Trials++
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
}

func extraAnswer(t *review.T) {
	m := jsondoc.Members(t.Oracle.Flow.Last)
	if m == nil {
		m = map[string]json.RawMessage{}
	}
	f := t.Oracle.Flow
	f.Last = jsondoc.Object(jsondoc.With(m, "sealab-extra", json.RawMessage(`{"action":"accept","content":{"probe":true}}`)))
	token, reason := t.Mint()
	if t.SkipFor(reason) {
		return
	}
	a := t.PresentIn(f, jsondoc.Quote(token))
	if !a.Conclusive() {
		t.Skip("%v", a)
		return
	}
	t.Trials++
	if a.Refused() {
		t.Refute(review.Finding{Case: "one more", Severity: review.Suggestion, Issue: "an answer that was not asked for is refused",
			Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "ignored", Got: "refused"})
	}
}

func where(t *review.T) {
	if len(t.Report.Server.Tools) == 0 {
		t.Skip("the server lists no tools")
		return
	}
	a := t.Call(client.Call{Method: "tools/list", State: jsondoc.Quote(review.GarbageState)})
	if !a.Conclusive() {
		t.Skip("%v", a)
		return
	}
	t.Trials++
	if a.Kind != client.Completed {
		t.Refute(review.Finding{Case: "tools/list", Severity: review.Suggestion, Issue: "tools/list with a requestState gives no list",
			Evidence: review.ExchangeText(a), Want: "completed", Got: string(a.Kind)})
	}
}
