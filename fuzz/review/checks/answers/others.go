package answers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// giveOthersAnswers gives each user, beside the answers to its own questions, answers to questions that
// the same call asks only of the other user, and values that its forms allow only the other user. It
// records a finding if they change the result.
func giveOthersAnswers(t *review.T) {
	own := t.Oracle
	defer func() { t.Oracle = own }()
	if !t.Options.Effects || len(t.Options.Target.Second) == 0 {
		return
	}
	for _, o := range t.Oracles {
		if !o.Completes() {
			continue
		}
		first, second := walkQuestions(t, o.Flow, client.FirstUser), walkQuestions(t, o.Flow, client.SecondUser)
		for _, pair := range [][2]questionWalk{{first, second}, {second, first}} {
			t.Oracle = &review.Oracle{Flow: pair[0].flow, User: pair[0].as}
			for _, x := range unaskedAnswers(pair[0].questions, pair[1].questions) {
				if pair[0].flow.Last != nil && t.Selected(x.label(t)) && countsUnasked(t, x) {
					return
				}
			}
			if giveOthersValues(t, pair[0], pair[1]) {
				return
			}
		}
	}
}

// A questionWalk is a call that a user has carried out: all questions of it, and the flow with the
// answers. Last is nil if the call did not complete.
type questionWalk struct {
	flow      client.Flow
	as        client.User
	questions map[string]client.Question
}

// maxAskedRounds is the number of questions after which walkQuestions stops.
const maxAskedRounds = 4

// walkQuestions makes the call of a flow as a user. It answers each question as the flow does, and
// those that the flow does not know, or whose form excludes its answer, with a sample.
func walkQuestions(t *review.T, f client.Flow, as client.User) questionWalk {
	w := questionWalk{f, as, map[string]client.Question{}}
	call, given := f.Call(as), f.Answers()
	w.flow.Rounds, w.flow.Last = nil, nil
	a := t.Tried(t.Call(call))
	for i := 0; i < maxAskedRounds && a.Kind == client.Asked; i++ {
		maps.Copy(w.questions, a.Questions)
		answers := jsondoc.Members(review.AnswersTo(a.Questions)[0])
		for key := range answers {
			if i < len(given) && isAnswer(a.Questions[key], jsondoc.Members(given[i])[key]) {
				answers[key] = jsondoc.Members(given[i])[key]
			}
		}
		w.flow.Rounds = append(w.flow.Rounds, jsondoc.Object(answers))
		a = t.Tried(t.Call(t.Client.Reply(call, a, jsondoc.Object(answers))))
	}
	if n := len(w.flow.Rounds); n > 0 && a.Kind == client.Completed {
		w.flow.Rounds, w.flow.Last = w.flow.Rounds[:n-1], w.flow.Rounds[n-1]
	}
	return w
}

// isAnswer reports whether there is an answer and the form of a question, if it has one, allows it.
func isAnswer(q client.Question, answer json.RawMessage) bool {
	return answer != nil && (q.Params.Schema == nil || jsondoc.Fits(q.Form(), jsondoc.Members(answer)["content"]))
}

// An unaskedAnswer is an answer, or a member of the content of an answer, that a user is not asked for.
type unaskedAnswer struct {
	name    string
	place   insertPlace
	members jsondoc.Arguments
}

func (x unaskedAnswer) label(t *review.T) string {
	return x.name + " of " + t.Oracle.Flow.String()
}

// unaskedAnswers returns answers to questions that only another user is asked, and values of members
// that only the other user's forms have.
func unaskedAnswers(own, other map[string]client.Question) []unaskedAnswer {
	var all []unaskedAnswer
	for _, key := range jsondoc.SortedKeys(other) {
		if _, asked := own[key]; !asked {
			for _, answers := range review.AnswersTo(map[string]client.Question{key: other[key]}) {
				all = append(all, unaskedAnswer{key, insertPlace{"answers", mergeObjects}, jsondoc.Members(answers)})
			}
			continue
		}
		mine, theirs := jsondoc.ParseSchema(own[key].Params.Schema).Properties, jsondoc.ParseSchema(other[key].Params.Schema).Properties
		for _, name := range jsondoc.SortedKeys(theirs) {
			for _, v := range jsondoc.Samples(theirs[name], 0) {
				if mine[name] == nil {
					all = append(all, unaskedAnswer{name, insertPlace{"content", mergeContents}, jsondoc.Arguments{name: v}})
				}
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// countsUnasked walks the flow with and without an answer that was not asked for. It records a finding
// if all results with the answer differ from those without it, of which some have a made-up answer
// instead.
func countsUnasked(t *review.T, x unaskedAnswer) bool {
	usual, a := comparedAnswers(func(i, which int) (client.Answer, bool) {
		members := jsondoc.Arguments{}
		if which == 1 {
			members = x.members
		} else if i > 0 {
			members["sealab_extra"] = slices.Collect(maps.Values(x.members))[0]
		}
		_, got := walkWithMembers(t, x.place, members)
		return got, got.Kind == client.Completed
	})
	if usual == nil {
		return false
	}
	t.Refute(review.Finding{Case: x.label(t), Severity: review.Warning, Issue: "the answer to a question that the server asks only of another user changes the result: " + client.Short(x.name, 40), Flow: &t.Oracle.Flow,
		Evidence: fmt.Sprintf("%s beside the answers -> %v; without it: completed %s", jsondoc.Object(x.members), a, client.Short(usual[0], 120)), Want: "ignored", Got: "another result"})
	return true
}

// maxComparedAnswers is the number of answers that are compared before one counts.
const maxComparedAnswers = 12

// comparedAnswers takes answers of two kinds in turn. It returns the texts of the first kind and the last
// answer of the second, or nil if an answer does not fit or the kinds do not always differ. A text may
// have parts that vary.
func comparedAnswers(take func(i, kind int) (a client.Answer, fits bool)) (usual []string, other client.Answer) {
	var texts [2][]string
	for i := range maxComparedAnswers {
		kind := review.Turn(i)
		a, fits := take(i, kind)
		if !fits {
			return nil, a
		}
		if kind == 1 {
			other = a
		}
		if texts[kind] = append(texts[kind], a.Text); i > 0 && !differFrom(texts[0], texts[1]) {
			return nil, a
		}
	}
	return texts[0], other
}

// differFrom reports whether each of texts differs from all usual texts in words that these have in
// common, or in the number of words.
func differFrom(usual, texts []string) bool {
	common := client.Words(usual[0])
	for _, text := range usual[1:] {
		other := client.Words(text)
		if len(other) != len(common) {
			return false
		}
		for i := range common {
			if common[i] != other[i] {
				common[i] = "" // it varies
			}
		}
	}
	return !slices.ContainsFunc(texts, func(text string) bool {
		return slices.EqualFunc(common, client.Words(text), func(one, other string) bool { return one == "" || one == other })
	})
}

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
