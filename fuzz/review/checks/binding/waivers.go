package binding

import (
	"encoding/json"
	"fmt"
	"regexp"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
