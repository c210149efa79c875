package answers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// declineChecks are the checks of declined questions.
var declineChecks = []review.Check{
	{
		ID: "RS-DECLINE", Name: "a declined question that counts as accepted", Flow: true, Effects: true, Severity: review.Critical, Category: "security",
		Sent: "the answers with action decline, without content; decline, cancel, an unknown action and no action, " +
			"each with the content of an acceptance, in every round; the acceptance under another key; in a flow " +
			"of several rounds the answers of an earlier round in the last one; an acceptance whose form answers " +
			"false to its only boolean, if that is named as a confirmation; decline or cancel, and then an " +
			"acceptance with the same state, if such a false uses a state up with the same result; in flows that ask a " +
			"form and a model at the end, declines beside a text of the model that agrees; refusals of one question three " +
			"times, and calls that only read after each",
		Want:   "answers all of these, and gives none of them the result of an acceptance; uses the state up in both cases; gives what it has set aside back once",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user declined",
		Fix:    "read action before content, and accept only the action accept",
		Run:    checkDeclines,
	},
	{
		ID: "RS-DENY", Name: "a decline of a call that works once", Effects: true, Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "before the first acceptance, to the first question of each tool: decline without content, twice; " +
			"decline, cancel and no action, each with the content of an acceptance; the call again after each",
		Want:   "asks again after each",
		Source: "revision 2026-07-28, client/elicitation",
		Impact: "the tool runs although the user declined",
		Fix:    "read action before content, and accept only the action accept",
		Run:    checkFirstDeclines,
	},
}

func checkDeclines(t *review.T) {
	if presentEveryAction(t); len(t.Findings) > 0 {
		return
	}
	t.ForEachFlow(func(*review.Oracle) { presentDeclines(t) })
	if len(t.Findings) == 0 {
		presentStaleAnswers(t)
	}
	confirmWithFalse(t)
	acceptAfterDecline(t)
	if len(t.Findings) == 0 {
		presentModelsConsent(t)
	}
	if len(t.Findings) == 0 {
		refuseAgain(t)
	}
}

// refusedTimes is the number of times that refuseAgain presents a refusal.
const refusedTimes = 3

// refuseAgain refuses last questions several times with one state each. It records a finding if each refusal changes
// the same number in what a call that only reads shows, in the same direction: a server that gives back what it has
// set aside must do so once.
func refuseAgain(t *review.T) {
	for _, o := range t.Oracles {
		if !o.Completes() || o.Flow.Method != "tools/call" || o.Flow.Offer.IsReadOnly() {
			continue
		}
		readings := steadyReadings(t, o.User)
		for how, refusal := range jsondoc.InOrder(refusals(o.Flow)) {
			label := how + " several times, " + o.Flow.Target
			state, _, err := t.Client.Mint(t.Context, o.Flow, o.User)
			if err != nil || len(readings) == 0 || !t.Selected(label) {
				continue
			}
			var last client.Answer
			shown := make([][]client.Answer, len(readings))
			for range refusedTimes {
				last = t.Tried(t.Client.Present(t.Context, o.Flow.WithLast(refusal), jsondoc.Quote(state), o.User))
				for i, reading := range readings {
					shown[i] = append(shown[i], t.Call(reading))
				}
			}
			for i, reading := range readings {
				if all := shown[i]; last.Kind == client.Completed && moves(all) && t.Call(reading).Text == all[refusedTimes-1].Text {
					t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "each repetition of a refusal has an effect", Flow: &o.Flow,
						Evidence: fmt.Sprintf("%s with one state, %d times; after each %s shows %q, %q, %q", how, refusedTimes, reading.Target, all[0].Text, all[1].Text, all[2].Text),
						Want:     "no effect after the first one", Got: "an effect each time"})
					return
				}
			}
		}
	}
}

// refusals returns last answers that refuse: declines, cancellations, and false for each boolean that is true.
func refusals(f client.Flow) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, action := range declinedActions[:2] {
		if refusal, reason := review.WithAction(f.Last, action, false); reason == "" {
			all[action] = refusal
		}
	}
	for key := range jsondoc.Members(f.Last) {
		for name, v := range f.Content(len(f.Rounds), key) {
			if string(v) == "true" {
				all["false for "+name] = f.WithAnswer(len(f.Rounds), key, name, json.RawMessage("false")).Last
			}
		}
	}
	return all
}

// shownNumber matches a number in a text.
var shownNumber = regexp.MustCompile(`\d+(\.\d+)?`)

// moves reports whether texts differ in one number alone, which always rises or always falls.
func moves(shown []client.Answer) bool {
	var all [][]string
	for _, a := range shown {
		all = append(all, shownNumber.FindAllString(a.Text, -1))
		if shownNumber.ReplaceAllString(a.Text, "#") != shownNumber.ReplaceAllString(shown[0].Text, "#") {
			return false
		}
	}
	moving := 0
	for i := range all[0] {
		step := func(n int) int {
			one, _ := strconv.ParseFloat(all[n][i], 64) // digits always parse
			two, _ := strconv.ParseFloat(all[n+1][i], 64)
			return cmp.Compare(two, one)
		}
		for n := range len(all) - 1 {
			if step(n) != step(0) {
				return false
			}
		}
		if step(0) != 0 {
			moving++
		}
	}
	return moving == 1
}

// checkFirstDeclines records the declines that were carried out before the first acceptance.
func checkFirstDeclines(t *review.T) {
	if len(t.Asking) == 0 {
		t.Skip("%s", t.NoFlow())
		return
	}
	t.Trials++
	for _, d := range t.Declined {
		label := cmp.Or(d.Action, "without an action")
		t.Refute(review.Finding{Case: d.Flow.Target + ": " + label, Severity: review.Critical, Flow: &d.Flow,
			Issue:    "an answer " + label + " with the content of an acceptance is carried out: the call no longer asks",
			Evidence: fmt.Sprintf("declined without content: %v, and asked again; %s with content: %v; the call again: %v", d.Plain, label, d.Got, d.After),
			Want:     "a question, as before", Got: "no question"})
	}
}

// presentDeclines presents answers other than an acceptance in one flow.
func presentDeclines(t *review.T) {
	if len(jsondoc.Members(t.Oracle.Flow.Last)) == 0 || t.Oracle.Good.Kind != client.Completed || t.Oracle.Mask == nil {
		t.Skip("the round takes no answers, or its results cannot be compared")
		return
	}
	optional := asksOptionally(t)
	if optional || t.Oracle.Flow.Method != "tools/call" || t.Oracle.Flow.Offer.IsReadOnly() {
		if other := otherChoice(t); other != nil {
			presentDeclinedChoices(t, other)
			return
		}
	}
	if optional {
		t.Skip("the last question needs no content, and a decline may mean that there is none")
		return
	}
	plain, reason := t.PresentAction("decline", false)
	if t.SkipFor(reason) {
		return
	}
	if plain.Kind == client.Completed && t.Oracle.Alike(plain) {
		if !showsArgument(t) {
			t.Skip("a result that says the same after an acceptance and after a refusal is inconclusive")
			return
		}
		refuteDecline(t, "decline", plain)
		return
	}
	if presentUnderOtherKeys(t) {
		return
	}
	for _, action := range declinedActions {
		a, reason := t.PresentAction(action, true)
		if t.SkipFor(reason) {
			return
		}
		if a.Kind == client.Completed && t.Oracle.Alike(a) {
			refuteDecline(t, cmp.Or(action, "without an action")+" with the content of an acceptance", a)
			return
		}
	}
}

// asksOptionally reports whether the last question of a flow needs no content and no confirmation, such as a list of
// wishes. To decline it may mean to have none.
func asksOptionally(t *review.T) bool {
	_, question, err := t.Client.Mint(t.Context, t.Oracle.Flow, t.Oracle.User)
	for _, q := range question.Questions {
		form := jsondoc.ParseSchema(q.Form())
		if len(form.Properties) == 0 || len(form.Required) > 0 {
			return false
		}
		for _, p := range jsondoc.Fields(q.Form()) {
			if p.TypeOf() == "boolean" {
				return false
			}
		}
	}
	return err == nil
}

// otherChoice returns an oracle whose last answers have another choice with another result, or nil.
func otherChoice(t *review.T) *review.Oracle {
	f := t.Oracle.Flow
	_, question, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil {
		return nil
	}
	round := len(f.Rounds)
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(f.Last)) {
		given, form := jsondoc.Object(f.Content(round, key)), question.Questions[key].Form()
		content, _ := jsondoc.OtherContent(given, form)
		if whole := jsondoc.FullSample(form, 0); content == nil && !jsondoc.Same(given, whole) {
			content = whole
		}
		if content == nil {
			continue
		}
		other := f.WithContent(round, key, jsondoc.Members(content))
		if o, reason := t.NewOracle(t.Context, other, t.Oracle.User); reason == "" && o.Completes() && !t.Oracle.Alike(o.Good) {
			return o
		}
	}
	return nil
}

// presentDeclinedChoices presents declines with two choices. A prompt, resource or read-only tool may take its
// default if the user declines to choose, so that each choice must count.
func presentDeclinedChoices(t *review.T, other *review.Oracle) {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	for _, action := range declinedActions {
		counts := 0
		for _, t.Oracle = range []*review.Oracle{own, other} {
			a, reason := t.PresentAction(action, true)
			if t.SkipFor(reason) {
				return
			}
			if a.Kind != client.Completed || !t.Oracle.Alike(a) {
				break
			}
			if counts++; counts == 2 {
				refuteDecline(t, cmp.Or(action, "without an action")+" with the content of an acceptance", a)
				return
			}
		}
	}
}

// declinedActions are the actions other than accept. The last one is no action.
var declinedActions = []string{"decline", "cancel", "sealab", ""}

// presentUnderOtherKeys presents the acceptances as answers to questions that the server did not
// ask.
func presentUnderOtherKeys(t *review.T) bool {
	a, reason := t.PresentAnswers(review.WithOtherKeys(t.Oracle.Flow.Last))
	if reason != "" {
		return false
	}
	t.Trials++
	if a.Kind != client.Completed || !t.Oracle.Alike(a) {
		return false
	}
	refuteDecline(t, "under another key", a)
	return true
}

// presentStaleAnswers presents the answers of an earlier round in the last one. It records a
// finding if they complete it, although the server repeats the question if there are no answers.
func presentStaleAnswers(t *review.T) {
	for _, o := range t.Oracles {
		f := o.Flow
		if len(f.Rounds) == 0 || !o.Completes() || jsondoc.ShareName(f.Last, f.Rounds[len(f.Rounds)-1]) {
			continue
		}
		stale := f.WithLast(f.Rounds[len(f.Rounds)-1])
		a := t.Tried(t.Fresh(stale, o.User))
		if a.Kind != client.Completed || !o.Alike(a) && !o.ResemblesGood(a) || t.Fresh(f.WithLast(json.RawMessage("{}")), o.User).Kind != client.Asked {
			continue
		}
		t.Refute(review.Finding{Case: "the answers of an earlier round", Severity: review.Critical,
			Issue:    "the answers of an earlier round are accepted as those of the last",
			Evidence: fmt.Sprintf("answers %s -> %v; in the last round: %v; without answers: asked", stale.Last, a, o.Good), Want: "asked", Got: "completed", Flow: &f})
		return
	}
}

func refuteDecline(t *review.T, name string, a client.Answer) {
	t.Refute(review.Finding{Case: name, Severity: review.Critical, Issue: "the answer " + name + " is carried out as an acceptance",
		Evidence: fmt.Sprintf("accepted: %v; %s: %v", t.Oracle.Good, name, a), Want: "another result", Got: "the same result"})
}

// showsArgument reports whether the text of a good completion contains one of the arguments.
func showsArgument(t *review.T) bool {
	for _, raw := range jsondoc.Members(t.Oracle.Flow.Arguments) {
		if text, ok := jsondoc.Text(raw); ok && len(text) > 3 && strings.Contains(t.Oracle.Good.Text, text) {
			return true
		}
	}
	return false
}

// presentEveryAction presents every action in each round, without and with content. It records a
// finding if the server never answers one.
func presentEveryAction(t *review.T) {
	for _, o := range t.Oracles {
		for _, f := range o.Flow.Stages() {
			for _, action := range []string{"decline", "cancel", "sealab", ""} {
				label := fmt.Sprintf("%s in round %d of %s", cmp.Or(action, "no action"), len(f.Rounds)+1, f.Target)
				for _, content := range []bool{false, true} {
					answers, reason := review.WithAction(f.Last, action, content)
					if reason != "" || len(jsondoc.Members(f.Last)) == 0 || !t.Selected(label) {
						continue
					}
					g := f.WithLast(answers)
					if refuteSilence(t, o, g, label, t.Tried(t.Fresh(g, o.User))) {
						return
					}
				}
			}
		}
	}
}

// refuteSilence records a finding if a is no answer to the last round of f, although the server
// answers the flow of the oracle. The runner repeats it.
func refuteSilence(t *review.T, o *review.Oracle, f client.Flow, label string, a client.Answer) bool {
	if a.Kind != client.Broken || a.Status >= 500 {
		return false
	}
	control := t.Fresh(o.Flow, o.User)
	if control.Kind != o.Good.Kind {
		t.Skip("%s: %v; then the honest flow: %v", label, a, control)
		return false
	}
	t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "an answer is never answered: " + label, Evidence: fmt.Sprintf("answers %s -> %v; then the honest flow: %v", f.Last, a, control),
		Want: "answered", Got: string(client.Broken), Flow: &o.Flow})
	return true
}
