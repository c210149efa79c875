package answers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// formChecks are the checks of answers that their form excludes.
var formChecks = []review.Check{
	{
		ID: "RS-FORM", Name: "an answer that violates its form", Flow: true, Effects: true, Severity: review.Critical, Category: "schema",
		Sent: "one invalid answer, then the right ones or a cancellation, and the honest flow again; " +
			"answers with values of another type, outside the enum, the bounds or the length of the form, also twice; texts that " +
			"the server refuses alone, together with an allowed one in a list, an object or a text; the text \"false\" instead of a boolean; answers without a required boolean, or without a consent that is " +
			"true by default; the answers of a round, and the members of a form, in another order; answers to another kind of " +
			"question; a secret that a read-only tool shows, also to a question for a second person; answers with additional members, in several places, that have the names of arguments, of " +
			"state members, of numbers in the result and of what servers usually keep (price, total, role, owner, ...), also in calls " +
			"whose integer must be higher each time; in the last round another answer to an earlier question; other " +
			"values for a price with a default that depends on the arguments of the call; for " +
			"texts and numbers that the server refuses also true, 0, null, empty lists and objects, and queries",
		Want: "repeats the question or answers -32602, and completes later calls; ignores additional members and the order; " +
			"charges the price that it computes",
		Source: review.SourceMRTR + ", SHOULD validate",
		Impact: "the handler works on values that its form excludes, or a client overwrites the arguments of the call",
		Fix:    "validate answers against the form that was sent, and read no other member",
		Run:    checkFormAnswers,
	},
	{
		ID: "RS-PROTO", Name: "an answer with members named __proto__ and constructor", Era: "modern", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent: "answers with members named __proto__ and constructor, in inputResponses, in an answer and in its " +
			"content; after each a request that lacks a required member which such a prototype would supply",
		Want:   "refuses or ignores these members, and answers other requests as before",
		Source: "CWE-1321",
		Impact: "a client changes the prototype of all JavaScript objects, and with it the requests of other clients",
		Fix:    "read only the members that the form names",
		Run:    checkPrototypeAnswers,
	},
}

func checkFormAnswers(t *review.T) {
	answerAsSecondPerson(t)
	overrideRising(t)
	if mendInvalidAnswers(t); len(t.Findings) > 0 {
		return
	}
	if t.Only == "" || strings.HasPrefix(t.Only, "arguments ") {
		t.ForEachFlow(func(*review.Oracle) { overrideMembers(t) })
		t.ForEachFlow(func(*review.Oracle) { overrideFullCall(t) })
		t.ForEachFlow(func(*review.Oracle) { overrideUsualNames(t) })
	}
	t.ForEachFlow(func(*review.Oracle) { overrideResultNames(t) })
	if replacePrices(t); len(t.Findings) > 0 {
		return
	}
	answerFalseTexts(t)
	presentReordered(t)
	presentInvalidValues(t)
	presentPairs(t)
	changeEarlierAnswers(t)
	if presentOtherTypes(t); len(t.Findings) > 0 {
		return
	}
	if presentOtherKinds(t); len(t.Findings) > 0 {
		return
	}
	f := t.Oracle.Flow
	for key := range jsondoc.InOrder(jsondoc.Members(f.Last)) {
		for name, value := range jsondoc.InOrder(f.Content(len(f.Rounds), key)) {
			wrong := json.RawMessage(`"sealab"`)
			if len(value) > 0 && value[0] == '"' {
				wrong = json.RawMessage(`[{"sealab":1}]`)
			}
			answers := f.WithAnswer(len(f.Rounds), key, name, wrong).Last
			a, reason := t.PresentAnswers(answers)
			if t.SkipFor(reason) {
				return
			}
			if t.Tried(a); t.Oracle.Verdict(a) == review.Accepted {
				t.Refute(review.Finding{Case: name, Severity: review.Suggestion, Issue: "an answer of the wrong type is passed on",
					Evidence: fmt.Sprintf("answers %s -> %v", answers, a), Want: "asked again, or -32602", Got: "accepted"})
				return
			}
		}
	}
}

// presentInvalidValues answers each member of a form with values that the form excludes: outside
// its list, its bounds or its length. It records a finding if the tool runs to its end and its
// result shows the value.
func presentInvalidValues(t *review.T) {
	for _, o := range t.Oracles {
		for _, o := range []*review.Oracle{o, withOptionalMembers(t, o)} {
			if o == nil || o.Good.Kind != client.Completed || o.Mask == nil {
				continue
			}
			for _, f := range o.Flow.Stages() {
				for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
					presentInvalidMembers(t, o, f, key)
				}
			}
		}
	}
}

// withOptionalMembers returns an oracle whose answers have the optional members of their forms as well, except for
// booleans, which may be waivers. It returns nil if there are none, or if such answers are not accepted.
func withOptionalMembers(t *review.T, o *review.Oracle) *review.Oracle {
	if !o.Completes() {
		return nil
	}
	whole, more := o.Flow, false
	for i, answers := range o.Flow.Answers() {
		stage := o.Flow
		stage.Rounds = o.Flow.Rounds[:i]
		_, question, _ := t.Client.Mint(t.Context, stage, o.User) // no question without a state
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
			content := whole.Content(i, key)
			for name, v := range jsondoc.Members(jsondoc.FullSample(question.Questions[key].Form(), 0)) {
				if content[name] == nil && string(v) != "true" && string(v) != "false" {
					content = jsondoc.With(content, name, v)
					whole, more = whole.WithContent(i, key, content), true
				}
			}
		}
	}
	if !more {
		return nil
	}
	full, _ := t.NewOracle(t.Context, whole, o.User) // nil: not accepted
	return full
}

// presentInvalidMembers tests the members of one answer of a flow.
func presentInvalidMembers(t *review.T, o *review.Oracle, f client.Flow, key string) {
	content := f.Content(len(f.Rounds), key)
	for _, name := range jsondoc.SortedKeys(content) {
		label := fmt.Sprintf("a value of %s in round %d of %s that its form excludes", name, len(f.Rounds)+1, f.Target)
		if len(t.Findings) > 0 || !t.Selected(label) || string(content[name]) == "true" || string(content[name]) == "false" {
			continue
		}
		for i, v := range invalidValues(memberSchema(t, f, o, key, name), content[name]) {
			wrong := o.Flow.WithAnswer(len(f.Rounds), key, name, v)
			a := t.Tried(t.Fresh(wrong, o.User))
			stage := f.WithAnswer(len(f.Rounds), key, name, v)
			if refuteSilence(t, o, stage, label, a) {
				return
			}
			shown := alikeExcept(o, a, content[name], v) &&
				(alikeExcept(o, t.Fresh(wrong, o.User), content[name], v) || !o.Alike(t.Fresh(o.Flow, o.User))) // the resource may be used up
			if !shown && alikeButNumbers(o, a) {
				shown = computesWith(t, o, a, v, func(v json.RawMessage) client.Flow { return o.Flow.WithAnswer(len(f.Rounds), key, name, v) })
			}
			issue := fmt.Sprintf("a value of %s that its form excludes is carried out", client.Short(name, 40))
			if !shown && i == 0 {
				a, shown = carriesOutAgain(t, o, stage, key, name)
				issue += ", if it is given again"
			}
			if !shown {
				continue
			}
			t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: issue,
				Evidence: fmt.Sprintf("%s -> %v; %s -> %v", content[name], o.Good, client.Short(string(v), 80), a), Want: "asked again, or -32602", Got: "accepted", Flow: &o.Flow})
			return
		}
	}
}

// carriesOutAgain reports whether the server asks again if the last answers of a stage have an excluded
// value, and then carries the same answers out, twice. It returns the last answer.
func carriesOutAgain(t *review.T, o *review.Oracle, stage client.Flow, key, name string) (a client.Answer, is bool) {
	round := len(stage.Rounds)
	v, given := stage.Content(round, key)[name], o.Flow.Content(round, key)[name]
	asked := stage
	asked.Rounds = stage.Answers()
	rest := append([]json.RawMessage{stage.Last}, o.Flow.Answers()[round+1:]...)
	for range 2 {
		var err error
		_, a, err = t.Client.Mint(t.Context, asked, o.User)
		form := jsondoc.ParseSchema(a.Questions[key].Form()).Properties[name]
		if err != nil || form == nil || jsondoc.Fits(form, v) {
			return a, false
		}
		a, _ = t.Client.Continue(t.Context, o.Flow.Call(o.User), a, rest)
		if t.Tried(a); !alikeExcept(o, a, given, v) {
			return a, false
		}
	}
	return a, true
}

// memberSchema returns the schema of a member of the form at the end of a flow, or nil if the
// question has other keys.
func memberSchema(t *review.T, f client.Flow, o *review.Oracle, key, name string) json.RawMessage {
	_, a, err := t.Client.Mint(t.Context, f, o.User)
	if err != nil {
		return nil
	}
	return jsondoc.ParseSchema(a.Questions[key].Form()).Properties[name]
}

// boundDistance is the distance of test numbers from the bounds that they violate.
const boundDistance = 7919

// maxLongText is the length of the longest text that exceeds a bound.
const maxLongText = 2000

// invalidValues returns values that a schema does not allow and that can be recognized in a text.
func invalidValues(raw, given json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	add := func(v any) {
		if text, err := json.Marshal(v); err == nil && jsondoc.Misfit(raw, v) != "" {
			all = append(all, text)
		}
	}
	s := jsondoc.ParseSchema(raw)
	var text string
	var number float64
	switch {
	case raw == nil:
	case s.Format != "": // most validators do not enforce formats
	case json.Unmarshal(given, &text) == nil:
		add(text + "-sealab")
		if s.MaxLength != nil && *s.MaxLength < maxLongText {
			add(strings.Repeat("w", *s.MaxLength+1))
		}
	case json.Unmarshal(given, &number) == nil:
		for _, bound := range []*float64{s.Minimum, s.Above} { // first: an amount below may be added to what is left
			if bound != nil {
				add(*bound - boundDistance)
			}
		}
		for _, bound := range []*float64{s.Maximum, s.Below} {
			if bound != nil {
				add(*bound + boundDistance)
			}
		}
		add(number + 0.5)
	}
	return all
}

// alikeExcept reports whether a completion matches that of a good token once v is replaced by
// given.
func alikeExcept(o *review.Oracle, a client.Answer, given, v json.RawMessage) bool {
	old, now := strings.Trim(string(given), `"`), strings.Trim(string(v), `"`)
	if a.Kind != client.Completed || !client.ShowsValue(a.Text, now) || client.ShowsValue(o.Good.Text, now) {
		return false
	}
	a.Text = strings.ReplaceAll(a.Text, now, old)
	return o.Alike(a)
}

// presentOtherKinds answers questions with another kind of answer: a form for sampling, a text for
// roots, other values for forms. It records a finding if the round goes on.
func presentOtherKinds(t *review.T) {
	for _, o := range t.Oracles {
		for _, key := range jsondoc.SortedKeys(jsondoc.Members(o.Flow.Last)) {
			f, label := o.Flow, fmt.Sprintf("an answer of another kind for %s of %s", key, o.Flow.Target)
			switch given := jsondoc.Members(jsondoc.At(f.Last, key)); {
			case !t.Selected(label):
				continue
			case given["role"] != nil:
				f.Last = jsondoc.WithMember(f.Last, key, json.RawMessage(`{"action":"accept","content":{"text":"sealab"}}`))
			case given["roots"] != nil:
				f.Last = jsondoc.WithMember(f.Last, key, json.RawMessage(`{"roots":"sealab"}`))
			default:
				if presentNonForms(t, o, key, label); len(t.Findings) > 0 {
					return
				}
				continue
			}
			if a := t.Fresh(f, o.User); a.Kind == o.Good.Kind && o.Verdict(a) == review.Accepted {
				t.Refute(review.Finding{Case: label, Severity: review.Suggestion, Issue: "an answer of another kind than the question is passed on",
					Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "asked again, or -32602", Got: "accepted", Flow: &o.Flow})
				return
			}
		}
	}
}

// presentNonForms presents values that are not answers to the form key. It records a finding if one
// has the effect of an acceptance and a decline has not. If a value stops the server, the runner
// notices.
func presentNonForms(t *review.T, o *review.Oracle, key, label string) {
	declined, reason := review.WithAction(o.Flow.Last, "decline", false)
	if reason != "" || o.Good.Kind != client.Completed || o.Mask == nil {
		return
	}
	f := o.Flow
	if o.Alike(t.Fresh(f.WithLast(declined), o.User)) {
		return // equal results are no evidence
	}
	for _, answer := range []string{"null", `"yes"`, "true", "[]", `{"role":"assistant","content":{"type":"text","text":"yes"},"model":"sealab"}`, `{"roots":[]}`} {
		f.Last = jsondoc.WithMember(o.Flow.Last, key, json.RawMessage(answer))
		if a := t.Tried(t.Fresh(f, o.User)); a.Kind == client.Completed && o.Alike(a) {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "an answer that is not the asked form is carried out as an acceptance",
				Evidence: fmt.Sprintf("answers %s -> %v; accepted: %v", f.Last, a, o.Good), Want: "asked again, or -32602", Got: "accepted", Flow: &o.Flow})
			return
		}
	}
}

// doubleOf returns twice a number, or null for another value.
func doubleOf(v json.RawMessage) json.RawMessage {
	var n float64
	if json.Unmarshal(v, &n) != nil {
		return json.RawMessage("null")
	}
	return fmt.Append(nil, 2*n)
}

// signedNumber matches a number with its sign and its fraction.
var signedNumber = regexp.MustCompile(`[-\x{2212}]?\d+(?:[.,]\d+)*`)

// wordsButNumbers returns the words of a text, with # in place of each number. Blank of the client leaves
// signs, and leaves texts alike only if the numbers have the same form.
func wordsButNumbers(text string) []string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = client.Blank(signedNumber.ReplaceAllString(word, "#"))
	}
	return words
}

// alikeButNumbers reports whether a completion has the words of a good token's, apart from numbers and the words
// that vary.
func alikeButNumbers(o *review.Oracle, a client.Answer) bool {
	good, other := wordsButNumbers(o.Good.Text), wordsButNumbers(a.Text)
	if a.Kind != client.Completed || len(good) != len(other) || len(good) != len(o.Mask) {
		return false
	}
	for i, same := range o.Mask {
		if same && good[i] != other[i] {
			return false
		}
	}
	return true
}

// computesWith reports whether the server computes with an excluded value v, to which a is the answer. Its text
// then has a number that is equal in honest texts, comes again with v, and is another one with twice v. A
// number that shows the value itself does not count, because servers may quote it beside the one that they take.
func computesWith(t *review.T, o *review.Oracle, a client.Answer, v json.RawMessage, with func(json.RawMessage) client.Flow) bool {
	double := doubleOf(v)
	all := [][]string{strings.Fields(o.Good.Text), strings.Fields(a.Text)}
	for _, f := range []client.Flow{o.Flow, with(v), with(double)} {
		x := t.Fresh(f, o.User)
		if !alikeButNumbers(o, x) {
			return false
		}
		all = append(all, strings.Fields(x.Text))
	}
	good, first, honest, again, more := all[0], all[1], all[2], all[3], all[4]
	for i := range good {
		quotes := client.ShowsValue(first[i], string(v)) || client.ShowsValue(more[i], string(double))
		if good[i] == honest[i] && first[i] == again[i] && first[i] != good[i] && more[i] != good[i] && more[i] != first[i] && !quotes && signedNumber.MatchString(first[i]) {
			return true
		}
	}
	return false
}
