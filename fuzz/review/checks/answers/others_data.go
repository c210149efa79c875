package answers

import (
	"encoding/json"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// minFixedWords is the number of words that the results for two values of a user must have in common, if
// they show how a result is laid out.
const minFixedWords = 3

// tellsOthersData reports whether a result for a value of another user tells what a result for an own value
// does: it is that of the other user, or is laid out as the results for two own values are. A value that
// the server offers to nobody must be answered otherwise, and the result must show again.
func tellsOthersData(t *review.T, o *review.Oracle, stage client.Flow, x othersValue, own, other questionWalk) bool {
	round := len(stage.Rounds)
	give := func(value json.RawMessage) client.Answer {
		return t.Tried(t.Fresh(o.Flow.WithAnswer(round, x.key, x.name, value), o.User))
	}
	for _, model := range []*review.Oracle{resultOfOther(t, o, x, other), laidOut(t, o, stage, x, own)} {
		tells := func(value json.RawMessage) bool {
			a := give(value)
			a.Text = strings.ReplaceAll(a.Text, textOf(value), textOf(x.value))
			return a.Kind == client.Completed && client.ShowsValue(a.Text, textOf(x.value)) && model.Alike(a)
		}
		if model == nil || !tells(x.value) {
			continue
		}
		if slices.ContainsFunc(unoffered(x, own, other), func(value json.RawMessage) bool { return !tells(value) }) && tells(x.value) {
			return true
		}
	}
	return false
}

func textOf(value json.RawMessage) string { return strings.Trim(string(value), `"`) }

// resultOfOther returns the result that the other user gets for a value, as controls, or nil if it is the
// honest result of the first. The words of two results that differ do not count.
func resultOfOther(t *review.T, o *review.Oracle, x othersValue, other questionWalk) *review.Oracle {
	if other.flow.Last == nil {
		return nil
	}
	for round := range other.flow.Answers() {
		if other.flow.Content(round, x.key)[x.name] == nil {
			continue
		}
		f := other.flow.WithAnswer(round, x.key, x.name, x.value)
		if model := alikeIn(t.Fresh(f, other.as), t.Fresh(f, other.as)); model != nil && !model.Alike(o.Good) {
			return model
		}
		return nil
	}
	return nil
}

// laidOut returns the results of a flow for two values of its own user as controls, or nil. The words that
// differ do not count.
func laidOut(t *review.T, o *review.Oracle, stage client.Flow, x othersValue, own questionWalk) *review.Oracle {
	round := len(stage.Rounds)
	given := stage.Content(round, x.key)[x.name]
	for _, value := range valuesOf(jsondoc.ParseSchema(own.questions[x.key].Form()).Properties[x.name]) {
		if string(value) == string(given) {
			continue
		}
		second := t.Fresh(o.Flow.WithAnswer(round, x.key, x.name, value), o.User)
		if model := alikeIn(o.Good, second); model != nil && client.ShowsValue(second.Text, textOf(value)) && fixedWords(model.Mask) >= minFixedWords {
			return model
		}
		return nil
	}
	return nil
}

// alikeIn returns controls with the words that two results have in common, or nil.
func alikeIn(one, two client.Answer) *review.Oracle {
	if one.Kind != client.Completed || two.Kind != client.Completed {
		return nil
	}
	mask := review.MaskOf([]client.Answer{one, two})
	if mask == nil {
		return nil
	}
	return &review.Oracle{Good: one, Mask: mask}
}

func fixedWords(mask []bool) (n int) {
	for _, same := range mask {
		if same {
			n++
		}
	}
	return n
}

// unoffered returns texts like a value that no form of the two users lists.
func unoffered(x othersValue, own, other questionWalk) (all []json.RawMessage) {
	text, is := jsondoc.Text(x.value)
	if !is || text == "" {
		return nil
	}
	for range maxUnoffered {
		text = jsondoc.OtherEnd(text)
		value, listed := jsondoc.Quote(text), false
		for _, w := range []questionWalk{own, other} {
			listed = listed || jsondoc.Fits(jsondoc.ParseSchema(w.questions[x.key].Form()).Properties[x.name], value)
		}
		if !listed {
			all = append(all, value)
		}
	}
	return all
}

// maxUnoffered is the number of values that the server may offer to nobody.
const maxUnoffered = 4
