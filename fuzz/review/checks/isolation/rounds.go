package isolation

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// leaksWordsOfRounds walks each flow with new words in its arguments and answers: as the first user
// up to the last question, and as the second user to the end. It records a finding if a question or
// the result of the second has a word of the first, twice. A flow that is not ended has no effects
// that another user may see.
func leaksWordsOfRounds(t *review.T) bool {
	for _, o := range t.Oracles {
		f, label := o.Flow, "rounds of "+o.Flow.String()
		if f.Last == nil || !t.Selected(label) {
			continue
		}
		evidence := ""
		for range 2 {
			first, second := walkWithWords(t, f.WithLast(nil), client.FirstUser), walkWithWords(t, f, client.SecondUser)
			if evidence = second.showing(first.words); evidence == "" {
				break
			}
		}
		if evidence != "" {
			t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a later question or the result of one user has texts of another user's call", Flow: &f,
				Evidence: evidence, Want: "the texts of the call", Got: "those of another call"})
			return true
		}
	}
	return false
}

// A wordedWalk is a flow that was walked with new words: the words, the results of its rounds, the call
// that began it, and its last answer.
type wordedWalk struct {
	words   []string
	results []string
	call    client.Call
	last    client.Answer
}

// showing returns a result that contains one of words, cut to evidence, or "".
func (w wordedWalk) showing(words []string) string {
	for i, result := range w.results {
		for _, word := range words {
			if at := strings.Index(result, word); at >= 0 {
				return fmt.Sprintf("the first user gave %s; result %d of the second: %s", word, i+1, client.Short(result[max(0, at-200):], 400))
			}
		}
	}
	return ""
}

// walkWithWords walks a flow to its token, or to its end if it has last answers. If the server does
// not take the words of a round, the walk continues without them.
func walkWithWords(t *review.T, f client.Flow, as client.User) wordedWalk {
	w := wordedWalk{call: f.Call(as)}
	w.call.Arguments = w.worded(t, f.Offer.InputSchema(), f.Arguments)
	if w.send(t, w.call); w.last.Kind != client.Asked {
		w.call.Arguments = f.Arguments
		w.send(t, w.call)
	}
	w.goOn(t, f.Answers())
	return w
}

// answerWithWords is like [walkWithWords] with new words in the answers alone.
func answerWithWords(t *review.T, f client.Flow, as client.User) wordedWalk {
	w := wordedWalk{call: f.Call(as)}
	w.send(t, w.call)
	w.goOn(t, f.Answers())
	return w
}

// send makes a call of the walk.
func (w *wordedWalk) send(t *review.T, call client.Call) {
	w.last = t.Tried(t.Call(call))
	state := ""
	if w.last.State != nil {
		state = *w.last.State
	}
	w.results = append(w.results, strings.ReplaceAll(string(w.last.Result), state, ""))
}

// goOn answers the questions of the walk with new words.
func (w *wordedWalk) goOn(t *review.T, rounds []json.RawMessage) {
	for _, answers := range rounds {
		if w.last.Kind != client.Asked || w.last.State == nil {
			return
		}
		before, worded := w.last.Class(), t.Client.Reply(w.call, w.last, answers)
		worded.Answers = w.answers(t, w.last.Questions, worded.Answers)
		if w.send(t, worded); w.last.Kind == client.Asked && w.last.Class() == before && w.last.State != nil {
			w.send(t, t.Client.Reply(w.call, w.last, answers))
		}
	}
}

// answers returns answers with new words in forms and in the messages of models.
func (w *wordedWalk) answers(t *review.T, questions map[string]client.Question, given json.RawMessage) json.RawMessage {
	all := jsondoc.Members(given)
	for key, answer := range all {
		m := jsondoc.Members(answer)
		switch content := jsondoc.Members(m["content"]); {
		case m["role"] != nil && content["text"] != nil:
			m["content"] = jsondoc.Object(jsondoc.With(content, "text", jsondoc.Quote(w.word(t))))
		case content != nil:
			m["content"] = w.worded(t, questions[key].Form(), m["content"])
		}
		all[key] = jsondoc.Object(m)
	}
	return jsondoc.Object(all)
}

// worded returns an object with a new word in each member that its schema allows to be any text.
func (w *wordedWalk) worded(t *review.T, schema, given json.RawMessage) json.RawMessage {
	all := jsondoc.Members(given)
	if all == nil {
		return given
	}
	for name, p := range jsondoc.Fields(schema) {
		if word := w.word(t); p.AnyText() && p.MinLength <= len(word) && (p.MaxLength == nil || len(word) <= *p.MaxLength) {
			all[name] = jsondoc.Quote(word)
		}
	}
	return jsondoc.Object(all)
}

// word returns a new word and remembers it.
func (w *wordedWalk) word(t *review.T) string {
	w.words = append(w.words, t.Word())
	return w.words[len(w.words)-1]
}
