package binding

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// Texts of calls that ask for a consent.
var (
	// consentWords match texts of consents, which each user gives for himself.
	consentWords = regexp.MustCompile(`(?i)consent|permi(t|ssion)|authori[sz]|\bgrant|\ballow|\bmay\b|\bshar(e|es|ing)\b|\baccess|\bagree|\btrust|einwillig|zustimm|erlaub|freigeb|autoris`)
	// commonWords match texts of consents that one user may give for others.
	commonWords = regexp.MustCompile(`(?i)\b(every(one|body)|(all|any|other) (users?|members?|people)|organi[sz]ations?|company|teams?|workspaces?|tenants?|admin\w*|offices?|households?|famil(y|ies)|shared)\b`)
)

// rememberedCase is the case of consents that a server remembers for more users than the one who gave them.
const rememberedCase = "the consent of another user"

// maxConsents is the number of calls whose consents are given for one flow at most.
const maxConsents = 8

// shareConsents looks at flows that are not asked for again once they are carried out: the server may remember
// the consent. It records a finding if the second user is asked, the first one consents, and then the call of
// the second is carried out without a question, with another result than that of the first. The server must
// remember the consent of the first as well.
func shareConsents(t *review.T) {
	for _, f := range t.Flows {
		if f.Last == nil || !t.Selected(rememberedCase) || isRepeated(t, f) {
			continue
		}
		seen, evidence := 0, ""
		for _, call := range consentCalls(t, f) {
			found, asked := sharesConsent(t, f, call)
			if asked && found == "" {
				seen = 0
				break
			}
			if found != "" {
				seen, evidence = seen+1, found
			}
			if seen == 2 {
				break
			}
		}
		if seen > 0 {
			t.Refute(review.Finding{Case: rememberedCase, Severity: review.Critical, Issue: "the consent of one user is remembered for another, whose call is carried out without a question",
				Evidence: evidence, Want: "asked", Got: string(client.Completed), Flow: &f})
			return
		}
	}
}

// isRepeated reports whether a flow was carried out several times with a question before each.
func isRepeated(t *review.T, f client.Flow) bool {
	return slices.ContainsFunc(t.Oracles, func(o *review.Oracle) bool {
		return o.Flow.Target == f.Target && o.Flow.Last != nil && jsondoc.Same(o.Flow.Arguments, f.Arguments)
	})
}

// consentCalls returns calls of a flow for which no consent may have been given: under new names of the client,
// and with other arguments.
func consentCalls(t *review.T, f client.Flow) []client.Call {
	var all []client.Call
	for range 2 {
		call := f.Call(client.FirstUser)
		call.Client = t.Word()
		all = append(all, call)
	}
	add := func(arguments json.RawMessage) {
		if arguments != nil && !jsondoc.Same(arguments, f.Arguments) {
			all = append(all, f.With(arguments).Call(client.FirstUser))
		}
	}
	add(f.Other)
	for range 2 {
		add(f.ArgumentsWith(t.Word()))
	}
	properties := jsondoc.ParseSchema(f.Offer.InputSchema()).Properties
	for name := range jsondoc.InOrder(jsondoc.Members(f.Arguments)) {
		for _, v := range jsondoc.ParseSchema(properties[name]).Enum {
			add(f.WithArgument(name, v).Arguments)
		}
	}
	return all[:min(len(all), maxConsents)]
}

// sharesConsent makes a call as both users, who must be asked, has the first one consent, and makes the call
// again as both. It returns the evidence if both are carried out without a question, each twice, and "" if not.
// It reports whether both were asked at first.
func sharesConsent(t *review.T, f client.Flow, call client.Call) (evidence string, asked bool) {
	as := func(user client.User) client.Answer { return t.Call(call.By(user)) }
	for range 2 {
		if as(client.SecondUser).Kind != client.Asked {
			return "", false
		}
	}
	question := as(client.FirstUser)
	if question.Kind != client.Asked {
		return "", false
	}
	texts := f.Offer.About() + " " + question.QuestionTexts()
	if !consentWords.MatchString(texts) || commonWords.MatchString(texts) {
		return "", true
	}
	given, _ := t.Client.Continue(t.Context, call, question, f.Answers())
	own, again := t.Tried(as(client.FirstUser)), as(client.FirstUser)
	other, later := t.Tried(as(client.SecondUser)), as(client.SecondUser)
	for _, a := range []client.Answer{given, own, again, other, later} {
		if a.Kind != client.Completed {
			return "", true
		}
	}
	exact := given.Text == own.Text && own.Text == again.Text && other.Text == later.Text
	differ := exact && own.Text != other.Text || !own.SameWords(other)
	if !given.SameWords(own) || !own.SameWords(again) || !other.SameWords(later) || !differ {
		return "", true
	}
	return fmt.Sprintf("%s %s: the second user is asked; the first answers %s -> %v; then the second -> %v", f.Target, call.Arguments, f.Last, given, other), true
}

// checkRemembered records the calls that the approval of another call covered.
func checkRemembered(t *review.T) {
	if len(t.Asking) == 0 {
		t.Skip("%s", t.NoFlow())
		return
	}
	t.Trials++
	for _, r := range t.Remembered {
		t.Refute(review.Finding{Case: r.Flow.Target, Severity: review.Warning, Flow: &r.Flow,
			Issue:    "an approval is remembered for other arguments: a call that was asked about is carried out without its question",
			Evidence: fmt.Sprintf("%s: %v; then %s is approved; %s again: %v", r.Flow.Arguments, r.Asked, r.Approved.Arguments, r.Flow.Arguments, r.Got),
			Want:     "a question, as before", Got: "no question"})
	}
}

// waiverText matches names and titles of boxes by which a user is not asked again.
var waiverText = regexp.MustCompile(`(?i)remember|\b(do not|don.?t|never|not) ask|\bask.{0,20}\b(once|again)|\balways\b|nicht (mehr|wieder|erneut) (frag|nachfrag)`)

// LastChecks returns the check that leaves calls without a question. It runs after the checks of other families.
func LastChecks() []review.Check { return waiverChecks }

var waiverChecks = []review.Check{
	{
		ID: "RS-WAIVER", Name: "a box of one user by which another is not asked", Flow: true, Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "in each branch of a flow whose last question has a box by which the user is not asked again: the call of the " +
			"second user, the answers of the first without and with the box ticked, and the call of the second again, twice",
		Want:   "asks the second user",
		Source: "revision 2026-07-28, client/elicitation; CWE-862",
		Impact: "a user gives the consent of others",
		Fix:    "remember the waiver together with the user",
		Run:    checkWaivers,
	},
}

func checkWaivers(t *review.T) {
	if len(t.Options.Target.Second) == 0 {
		t.Skip("one user is known; --second gives another")
		return
	}
	for _, o := range t.Oracles {
		for _, f := range t.Branches(t.Context, o) {
			if label := "the waiver of " + f.Target; t.Selected(label) && len(t.Findings) == 0 && o.Completes() {
				shareWaiver(t, f, label)
			}
		}
	}
	t.SkipUntried("no last question has a box by which the user is not asked again")
}

// shareWaiver has the first user tick the box in the last question of a flow. It records a finding if the second
// user, who was asked before, is not any more. The box may say that it holds for several users.
func shareWaiver(t *review.T, f client.Flow, label string) {
	asked := f.WithLast(nil)
	question := t.Walk(asked, client.SecondUser)
	ticked, box := tickWaiver(f.Last, question.Questions)
	if question.Kind != client.Asked || ticked == nil || commonWords.MatchString(box+" "+question.QuestionTexts()) {
		return
	}
	if plain := t.Walk(f, client.FirstUser); plain.Kind != client.Completed || t.Walk(asked, client.SecondUser).Kind != client.Asked {
		return // also without the box
	}
	t.Trials++
	given := t.Walk(f.WithLast(ticked), client.FirstUser)
	other := t.Walk(asked, client.SecondUser)
	if given.Kind != client.Completed || other.Kind != client.Completed || t.Walk(asked, client.SecondUser).Kind != client.Completed {
		return
	}
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "the box by which one user is not asked again holds for another, whose call is carried out without a question", Flow: &f,
		Evidence: fmt.Sprintf("%s %s: the second user is asked, also after the first answers %s; then the first answers %s -> %v, and the second -> %v", f.Target, f.Arguments, f.Last, ticked, given, other),
		Want:     "asked", Got: string(client.Completed)})
}

// tickWaiver returns answers with the box true by which a user is not asked again, and its schema, or nil.
func tickWaiver(answers json.RawMessage, questions map[string]client.Question) (ticked json.RawMessage, box string) {
	all := jsondoc.Members(answers)
	for key, q := range jsondoc.InOrder(questions) {
		for name, s := range jsondoc.Fields(q.Form()) {
			content := jsondoc.Members(jsondoc.At(all[key], "content"))
			if content == nil || s.TypeOf() != "boolean" || !waiverText.MatchString(name+" "+string(s.Raw)) {
				continue
			}
			content = jsondoc.With(content, name, json.RawMessage("true"))
			return jsondoc.Object(jsondoc.With(all, key, jsondoc.WithMember(all[key], "content", jsondoc.Object(content)))), string(s.Raw)
		}
	}
	return nil, ""
}
