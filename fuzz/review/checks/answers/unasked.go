package answers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
