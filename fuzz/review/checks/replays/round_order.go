package replays

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

func checkRollback(t *review.T) {
	f := t.Oracle.Flow
	if len(f.Rounds) == 0 {
		t.Skip("the flow has one round with a state")
		return
	}
	earlier := f
	earlier.Rounds, earlier.Last = f.Rounds[:len(f.Rounds)-1], f.Rounds[len(f.Rounds)-1]
	token, _, err := t.Client.Mint(t.Context, earlier, t.Oracle.User)
	if t.SkipOn(err) {
		return
	}
	one := t.PresentIn(earlier, jsondoc.Quote(token))
	two := t.PresentIn(earlier, jsondoc.Quote(token))
	if !one.Conclusive() || !two.Conclusive() {
		t.Skip("%v, then %v", one, two)
		return
	}
	t.Trials++
	if one.Kind == client.Asked && two.Class() == one.Class() && t.OneTime(t.Oracle.Flow) {
		t.Refute(review.Finding{Case: "the round before", Severity: review.Suggestion,
			Issue:    "the token of an earlier round is accepted after a later one",
			Evidence: fmt.Sprintf("first %v, then %v", one, two), Want: "accepted once", Got: "accepted twice"})
	}
}

// presentEarlyAnswers presents the token of the first round with the answers of the last round, and
// with those of all rounds. The server has not asked the later questions yet.
func presentEarlyAnswers(t *review.T) {
	f := t.Oracle.Flow
	if len(f.Rounds) == 0 || f.Last == nil || t.Oracle.Good.Kind != client.Completed || jsondoc.ShareName(f.Last, f.Rounds[0]) {
		return
	}
	together := jsondoc.Members(f.Last)
	for _, answers := range f.Rounds {
		maps.Copy(together, jsondoc.Members(answers))
	}
	presentInFirstRound(t, "answers of the last round", review.Critical, f.Last)
	presentInFirstRound(t, "answers of all rounds", review.Suggestion, jsondoc.Object(together))
}

// presentInFirstRound presents the token of the first round with answers to later questions.
func presentInFirstRound(t *review.T, label string, severity review.Severity, answers json.RawMessage) {
	f := t.Oracle.Flow
	f.Rounds, f.Last = nil, answers
	token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil || len(t.Findings) > 0 || !t.Selected(label) {
		return
	}
	a := t.Tried(t.PresentIn(f, jsondoc.Quote(token)))
	if a.Kind == client.Completed && (t.Oracle.Alike(a) || (t.Oracle.ResemblesGood(a) || startsLikeGood(t, a)) && repeatsQuestion(t, f)) {
		t.Refute(review.Finding{Case: label, Severity: severity, Issue: "the token of the first round runs the tool to its end with the " + label,
			Evidence: fmt.Sprintf("answers %s -> %v; in the last round: %v", answers, a, t.Oracle.Good), Want: "a question", Got: "completed"})
	}
}

// startsLikeGood reports whether a completion starts with at least half of the words of a good one.
// The result of a decline must not. Missing answers change the other words.
func startsLikeGood(t *review.T, a client.Answer) bool {
	no, _ := t.PresentAction("decline", false)
	return sharesStart(t.Oracle, a) && !sharesStart(t.Oracle, no)
}

func sharesStart(o *review.Oracle, a client.Answer) bool {
	words, other := strings.Fields(client.Blank(o.Good.Text)), strings.Fields(client.Blank(a.Text))
	n := 0
	for n < min(len(words), len(other)) && words[n] == other[n] {
		n++
	}
	return n > 2 && 2*n >= len(words)
}

// repeatsQuestion reports whether a flow repeats its question if the answers have unknown keys.
func repeatsQuestion(t *review.T, f client.Flow) bool {
	return t.Fresh(f.WithLast(review.WithOtherKeys(f.Last)), t.Oracle.User).Kind == client.Asked
}

func checkSkippedRounds(t *review.T) {
	t.Prefer(func(f client.Flow) bool { return len(f.Rounds) > 0 })
	presentEarlyAnswers(t)
	t.Prefer(t.OneTime)
	for _, o := range append([]*review.Oracle{t.Oracle}, t.Oracles...) {
		if t.Oracle = o; o.Completes() && answerFirstCall(t) {
			return
		}
	}
	t.PresentOtherText("an empty state", func() string { return "" })
	t.SkipUntried("the rounds take no answers, or do not run tools to their end")
}

// answerFirstCall sends the answers of the last round in the first call, without a state and with the state
// null. It refutes if they run the tool to its end.
func answerFirstCall(t *review.T) bool {
	f := t.Oracle.Flow
	for _, state := range []json.RawMessage{nil, json.RawMessage("null")} {
		call := f.AnswersAlone(t.Oracle.User)
		call.State = state
		a := t.Call(call)
		if !t.Counted(a) {
			return true
		}
		if a.Kind == client.Completed && t.Oracle.Alike(a) {
			refuteStateless(t, a)
			return true
		}
	}
	return false
}

// refuteStateless records a finding about answers that run the tool to its end without a state.
func refuteStateless(t *review.T, a client.Answer) {
	f := t.Oracle.Flow
	severity, issue := review.Suggestion, "answers without a state run the tool to its end"
	switch {
	case len(f.Rounds) > 0:
		severity, issue = review.Critical, issue+", without the earlier questions"
	case t.OneTime(t.Oracle.Flow):
		severity = review.Critical
	}
	t.Refute(review.Finding{Case: "no state", Severity: severity, Issue: issue, Evidence: fmt.Sprintf("answers %s -> %v", f.Last, a), Want: "the first question", Got: "completed"})
}
