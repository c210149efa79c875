package binding

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// A filling is a flow that uses up things of the user, and calls that change these.
type filling struct {
	flow   client.Flow
	first  []client.Flow // come before each question
	change client.Flow
}

// fillBetween changes things between a question about them and its answer. It records a finding if the
// result has the sum, or another word, of the first question together with words of the changed things,
// twice. Other results have either those of the things before the change or those of the things after it.
// The flow must use the things up, so that a change no longer shows after it.
func fillBetween(t *review.T) {
	for _, x := range fillingsOf(t) {
		label := fmt.Sprintf("%s between the question of %s and its answer", x.change.Target, x.flow.Target)
		if len(t.Findings) > 0 || !t.Selected(label) {
			continue
		}
		if evidence := x.mixed(t); evidence != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Critical,
				Issue:    "a change after the question is carried out at the number or the text that the question showed before it",
				Evidence: evidence, Want: "a refusal, a new question, or the things of the question", Got: "carried out", Flow: &x.flow})
		}
	}
}

// fillingsOf returns the flows of tools with calls of the tools that change something without a question.
func fillingsOf(t *review.T) []filling {
	var all []filling
	for _, f := range t.Flows {
		if f.Method != "tools/call" || f.Last == nil {
			continue
		}
		for _, tool := range t.Changers() {
			if tool.Name == f.Target || t.Asks(tool) {
				continue
			}
			g := t.FlowOf(tool)
			all = append(all, filling{f, nil, g})
			if other := jsondoc.OtherArguments(g.Arguments, tool.Input); other != nil {
				all = append(all, filling{f, []client.Flow{g}, g.With(other)})
			}
		}
	}
	return all[:min(len(all), 2*review.MaxTestedCalls)]
}

// A completion is the texts of the questions of a call, and its result.
type completion struct{ question, result string }

func (c completion) String() string {
	return client.Short(strings.TrimSpace(c.question), 120) + " -> " + client.Short(c.result, 160)
}

// ask makes the first calls, changes, and the calls of the flow up to its last question. It returns this
// question and the texts of all.
func (x filling) ask(t *review.T, changes []client.Flow) (question client.Answer, texts string, ok bool) {
	for _, f := range slices.Concat(x.first, changes) {
		if t.Tried(t.Call(f.Call(client.FirstUser))).Kind != client.Completed {
			return question, "", false
		}
	}
	call := x.flow.Call(client.FirstUser)
	question = t.Call(call)
	texts = question.ShownTexts()
	for _, answers := range x.flow.Rounds {
		if question.Kind != client.Asked {
			return question, "", false
		}
		question = t.Call(t.Client.Reply(call, question, answers))
		texts += "\n" + question.ShownTexts()
	}
	return question, texts, question.Kind == client.Asked && choosesOnly(question)
}

// complete carries out the flow, with changes before its question or after it.
func (x filling) complete(t *review.T, before, after []client.Flow) (c completion, ok bool) {
	question, texts, ok := x.ask(t, before)
	for _, f := range after {
		ok = ok && t.Tried(t.Call(f.Call(client.FirstUser))).Kind == client.Completed
	}
	if !ok {
		return c, false
	}
	a := t.Tried(t.Call(t.Client.Reply(x.flow.Call(client.FirstUser), question, x.flow.Last)))
	return completion{texts, a.Text}, a.Kind == client.Completed
}

// completions are results of calls without a change, with one before the question, and with one after it.
type completions struct{ without, before, after []completion }

// mixed returns evidence that results mix the things before and after a change, or "".
func (x filling) mixed(t *review.T) string {
	change := []client.Flow{x.change}
	x.complete(t, nil, nil) // earlier changes are used up
	honest, ok := x.complete(t, nil, nil)
	if !ok {
		return ""
	}
	if _, texts, ok := x.ask(t, change); !ok || len(without(parts(texts), []string{honest.question})) == 0 {
		return ""
	}
	x.complete(t, nil, nil)
	var all completions
	for range 2 {
		for _, run := range []struct {
			to            *[]completion
			before, after []client.Flow
		}{{&all.without, nil, nil}, {&all.after, nil, change}, {&all.without, nil, nil}, {&all.before, change, nil}, {&all.without, nil, nil}} {
			c, ok := x.complete(t, run.before, run.after)
			if !ok {
				return ""
			}
			*run.to = append(*run.to, c)
		}
		if len(all.mixedWords()) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("without a change: %v; after %s %s: %v; with the change between this question and its answer: %v",
		all.without[0], x.change, x.change.Arguments, all.before[0], all.after[0])
}

// mixedWords returns the words of a change, which are in each result of a changed call and in no other. It
// returns none unless each result of a change after the question also has words of this question in the place
// of those that the question after a change has.
func (x completions) mixedWords() []string {
	questions, results := x.texts()
	asked, done := slices.Concat(questions[0], questions[2]), slices.Concat(results[0], results[2])
	old := without(common(slices.Concat(asked, done)), slices.Concat(questions[1], results[1]))
	changed := without(common(slices.Concat(questions[1], results[1])), slices.Concat(asked, done))
	if len(old) == 0 || len(changed) == 0 {
		return nil
	}
	for i, late := range results[2] {
		if !alikeBut(late, results[1][i], old, changed) {
			return nil
		}
	}
	added := without(common(slices.Concat(results[1], results[2])), slices.Concat(asked, results[0]))
	return slices.DeleteFunc(added, func(w string) bool { return !strings.ContainsFunc(w, unicode.IsLetter) })
}

// texts returns the texts of questions and of results, of each kind of completions.
func (x completions) texts() (questions, results [3][]string) {
	for i, all := range [][]completion{x.without, x.before, x.after} {
		for _, c := range all {
			questions[i], results[i] = append(questions[i], c.question), append(results[i], c.result)
		}
	}
	return questions, results
}

// parts returns the words of a text. Numbers keep their points.
func parts(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'{}[]():,;", r) })
	for i := range all {
		all[i] = strings.TrimRight(all[i], ".?!")
	}
	return slices.DeleteFunc(all, func(w string) bool { return w == "" })
}

// common returns the words that are in all texts.
func common(texts []string) []string {
	return slices.DeleteFunc(parts(texts[0]), func(w string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(parts(text), w) })
	})
}

// without returns the words that are in none of the texts.
func without(words, texts []string) []string {
	return slices.DeleteFunc(words, func(w string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(parts(text), w) })
	})
}

// alikeBut reports whether two results have the same words but for numbers, and for the words of old in the
// place of those of changed.
func alikeBut(late, honest string, old, changed []string) bool {
	one, two := parts(late), parts(honest)
	if len(one) != len(two) {
		return false
	}
	for i, w := range one {
		replaced := slices.Contains(old, w) && slices.Contains(changed, two[i])
		if !replaced && client.Blank(w) != client.Blank(two[i]) {
			return false
		}
	}
	return true
}
