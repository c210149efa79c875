package answers

import (
	"encoding/json"
	"fmt"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// An othersValue is a value that a form allows another user alone.
type othersValue struct {
	key, name string
	value     json.RawMessage
}

// othersValues returns values that forms list for another user, or bounds of his numbers, and that the own
// forms of the same keys exclude.
func othersValues(own, other map[string]client.Question) []othersValue {
	var all []othersValue
	for _, key := range jsondoc.SortedKeys(own) {
		mine, theirs := jsondoc.ParseSchema(own[key].Form()).Properties, jsondoc.ParseSchema(other[key].Form()).Properties
		for _, name := range jsondoc.SortedKeys(mine) {
			for _, v := range valuesOf(theirs[name]) {
				if !jsondoc.Fits(mine[name], v) {
					all = append(all, othersValue{key, name, v})
				}
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// valuesOf returns the values that a schema lists, or the bounds of a number.
func valuesOf(schema json.RawMessage) []json.RawMessage {
	s := jsondoc.ParseSchema(schema)
	if s.Listed() {
		return jsondoc.Samples(schema, 0)
	}
	var all []json.RawMessage
	for _, bound := range []*float64{s.Minimum, s.Maximum} {
		if bound != nil {
			all = append(all, fmt.Append(nil, *bound))
		}
	}
	return all
}

// giveOthersValues gives a user, in the place of the own value, values that the same form allows only the
// other user. It records a finding if the tool runs to its end and its result shows the value. The forms
// of the user must exclude the value each time.
func giveOthersValues(t *review.T, own, other questionWalk) bool {
	values := othersValues(own.questions, other.questions)
	if own.flow.Last == nil || len(values) == 0 {
		return false
	}
	o, reason := t.NewOracle(t.Context, own.flow, own.as)
	if reason != "" || !o.Completes() || o.Mask == nil {
		return false
	}
	for _, x := range values {
		for _, stage := range own.flow.Stages() {
			given := stage.Content(len(stage.Rounds), x.key)[x.name]
			label := fmt.Sprintf("a value of %s that is for another user, %s", x.name, own.flow)
			if given == nil || !t.Selected(label) {
				continue
			}
			a, taken := takesOthersValue(t, o, stage, x, given)
			issue := "a value of %s that the server offers only to another user is carried out"
			if tellable := !taken && a.Kind == client.Completed && client.ShowsValue(a.Text, textOf(x.value)) && !client.ShowsValue(o.Good.Text, textOf(x.value)); tellable {
				taken = tellsOthersData(t, o, stage, x, own, other)
				issue += ", and the result tells what belongs to the value"
			}
			if taken {
				t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: fmt.Sprintf(issue, client.Short(x.name, 40)),
					Evidence: fmt.Sprintf("%s -> %v; %s -> %v", given, o.Good, client.Short(string(x.value), 80), a), Want: "asked again, or -32602", Got: "accepted", Flow: &own.flow})
				return true
			}
		}
	}
	return false
}

// takesOthersValue returns the answer to a value that the form of the user excludes, without a kind if the
// form allows it. It reports whether the flow completes as with an own value, twice, unless the honest flow
// completes only once.
func takesOthersValue(t *review.T, o *review.Oracle, stage client.Flow, x othersValue, given json.RawMessage) (client.Answer, bool) {
	wrong := o.Flow.WithAnswer(len(stage.Rounds), x.key, x.name, x.value)
	take := func() (client.Answer, bool) {
		form := memberSchema(t, stage, o, x.key, x.name)
		if form == nil || jsondoc.Fits(form, x.value) {
			return client.Answer{}, false
		}
		a := t.Tried(t.Fresh(wrong, o.User))
		return a, alikeExcept(o, a, given, x.value)
	}
	a, taken := take()
	if !taken {
		return a, false
	}
	if _, again := take(); !again && o.Alike(t.Fresh(o.Flow, o.User)) {
		return client.Answer{}, false
	}
	return a, true
}
