package answers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// presentReordered gives the answers of a round, and the members of a form, in another order. It
// records a finding if the result is another one.
func presentReordered(t *review.T) {
	for _, o := range t.Oracles {
		if o.Good.Kind != client.Completed {
			continue
		}
		for _, stage := range o.Flow.Stages() {
			for _, f := range flowsInOrder(t, o, len(stage.Rounds)) {
				label := fmt.Sprintf("round %d of %s in another order", len(stage.Rounds)+1, f.Target)
				if len(t.Findings) == 0 && t.Selected(label) {
					reorderAnswers(t, o, f, len(stage.Rounds), label)
				}
			}
		}
	}
}

// flowsInOrder returns a flow, and flows with another value in each answer of a round: a change of order
// does not show in equal answers.
func flowsInOrder(t *review.T, o *review.Oracle, round int) []client.Flow {
	all := []client.Flow{o.Flow}
	before := o.Flow
	before.Rounds, before.Last = o.Flow.Answers()[:round], nil
	_, asked, err := t.Client.Mint(t.Context, before, o.User)
	for key, q := range jsondoc.InOrder(asked.Questions) {
		content, _ := jsondoc.OtherContent(jsondoc.Object(o.Flow.Content(round, key)), q.Form())
		if err == nil && content != nil {
			all = append(all, o.Flow.WithContent(round, key, jsondoc.Members(content)))
		}
	}
	return all[:min(len(all), 3)]
}

// reorderAnswers gives the answers of one round of a flow in the other orders.
func reorderAnswers(t *review.T, o *review.Oracle, f client.Flow, round int, label string) {
	for _, answers := range reordered(f.Answers()[round]) {
		flows := [2]client.Flow{f, f.WithAnswers(round, answers)}
		usual, a := comparedAnswers(func(_, which int) (client.Answer, bool) {
			a := t.Tried(t.Walk(flows[which], o.User))
			return a, a.Conclusive() && (which == 1 || a.Kind == client.Completed)
		})
		if usual == nil || isListing(usual, a, f.Answers()[round]) {
			continue
		}
		t.Refute(review.Finding{Case: label, Severity: review.Warning, Issue: "the result depends on the order of the members of answers",
			Evidence: fmt.Sprintf("answers %s -> completed %s; the same as %s -> %v", f.Answers()[round], client.Short(usual[0], 120), answers, a), Want: "the same result", Got: "another result", Flow: &o.Flow})
		return
	}
}

// reordered returns answers in reverse order, and with the members of one form in reverse order.
func reordered(answers json.RawMessage) []json.RawMessage {
	all := []json.RawMessage{jsondoc.Reversed(answers)}
	for _, key := range jsondoc.SortedKeys(jsondoc.Members(answers)) {
		form := jsondoc.Members(jsondoc.At(answers, key))
		all = append(all, jsondoc.WithMember(answers, key, jsondoc.Object(jsondoc.With(form, "content", jsondoc.Reversed(form["content"])))))
	}
	return slices.DeleteFunc(all, func(other json.RawMessage) bool {
		return string(other) == string(jsondoc.Object(jsondoc.Members(answers)))
	})
}

// isListing reports whether a result shows the given answers in another order and is otherwise the usual
// one, as a list of the answers in the order of their arrival is.
func isListing(usual []string, a client.Answer, answers json.RawMessage) bool {
	own, words := client.Words(usual[0]), client.Words(a.Text)
	var moved, others []string
	first, last := -1, -1
	for i := range own {
		if len(words) != len(own) {
			return false
		}
		if own[i] != words[i] && !slices.ContainsFunc(usual, func(text string) bool { return client.Words(text)[i] != own[i] }) {
			moved, others, last = append(moved, own[i]), append(others, words[i]), i
			if first < 0 {
				first = i
			}
		}
	}
	if slices.Sort(moved); !slices.Equal(moved, slices.Sorted(slices.Values(others))) {
		return false
	}
	given := client.Words(strings.Join(leafTexts(answers), " "))
	between := slices.DeleteFunc(slices.Clone(own[first:last+1]), func(w string) bool { return w == "and" || slices.Contains(given, w) })
	return len(between) == 0 || slices.ContainsFunc(moved, func(w string) bool { return !slices.Contains(given, w) })
}
