package isolation

import (
	"encoding/json"
	"fmt"
	"regexp"
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

// openWords are parts of texts of tools and resources that say that they show calls before their end.
var openWords = []string{"draft", "pending", "waiting", "await", "approv", "review", "queue", "proposal", "propose", "unconfirmed", "not yet", "in progress", "under way", "open "}

// seenWords are parts of texts that say that other users see a call or an answer.
var seenWords = []string{"shared", "public", "visible", "everyone", "everybody", "all users", "other users", "others", "colleague", "team", "members", "shown to"}

// negated matches the rest of a sentence behind a word that denies it.
var negated = regexp.MustCompile(`(?i)\b(not|never|nobody|no one|none|only|without|cannot)\b[^.;]*|n't\b[^.;]*`)

// showsOpenAnswers walks each flow with new words up to its last question as one user, and makes the calls
// that only read as the other one. It records a finding if one of them shows a word, and none does once
// the flow is completed, for either user. A list that keeps the words is meant for all, and users who see
// more than others do not see each other's calls.
func showsOpenAnswers(t *review.T) bool {
	readers := publicReaders(t)
	for _, o := range t.Oracles {
		f, label := o.Flow, "open answers of "+o.Flow.String()
		if !o.Completes() || !t.Selected(label) || client.Mentions(affirmed(f.Offer.About()), seenWords) {
			continue
		}
		for _, walk := range []func(*review.T, client.Flow, client.User) wordedWalk{answerWithWords, walkWithWords} {
			shown := func(pair [2]client.User) string {
				return shownWhileOpen(t, f, readers, walk(t, f.WithLast(nil), pair[0]), pair)
			}
			if evidence := shown(review.UserPairs[0]); evidence != "" && shown(review.UserPairs[1]) != "" {
				t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "a user reads texts of another user's call that waits for its last answer", Flow: &f,
					Evidence: evidence, Want: "no text of a call that is not completed", Got: "shown"})
				return true
			}
		}
	}
	return false
}

// publicReaders returns the calls that only read and do not say that they show calls before their end.
func publicReaders(t *review.T) []client.Flow {
	if announcesOpenCalls(t.Instructions()) {
		return nil
	}
	var all []client.Flow
	for _, o := range t.Lookups() {
		all = append(all, t.FlowOf(o))
	}
	var quiet []client.Flow
	for _, f := range append(all[:min(len(all), 2*review.MaxTestedCalls)], t.Reads()...) {
		if !client.Mentions(affirmed(f.Offer.About()+" "+f.Target), openWords) && len(quiet) < 4*review.MaxTestedCalls {
			quiet = append(quiet, f)
		}
	}
	return quiet
}

// announcesOpenCalls reports whether a sentence says that other users see calls before their end.
func announcesOpenCalls(text string) bool {
	for sentence := range strings.SplitSeq(affirmed(text), ".") {
		if client.Mentions(sentence, openWords) && client.Mentions(sentence, seenWords) {
			return true
		}
	}
	return false
}

// affirmed removes the parts of a text that deny something.
func affirmed(text string) string { return negated.ReplaceAllString(text, "") }

// shownWhileOpen makes the reading calls as the second user of a pair while a walk of the first one waits
// for its last answer, and again after it. It returns evidence, or "" if no text of the walk is shown
// before, or one is shown after.
func shownWhileOpen(t *review.T, f client.Flow, readers []client.Flow, w wordedWalk, pair [2]client.User) string {
	if w.last.Kind != client.Asked || len(w.words) == 0 || client.Mentions(affirmed(strings.Join(w.results, ". ")), seenWords) {
		return ""
	}
	read := func(reader client.Flow) (client.Answer, string) {
		a := t.Tried(t.Call(reader.Call(pair[1])))
		return a, wordedWalk{results: []string{string(a.Result)}}.showing(w.words)
	}
	shown := func() (client.Flow, string) {
		for _, reader := range readers {
			if _, evidence := read(reader); evidence != "" {
				return reader, evidence
			}
		}
		return client.Flow{}, ""
	}
	reader, evidence := shown()
	if evidence == "" || t.Tried(t.Call(t.Client.Reply(w.call, w.last, f.Last))).Kind != client.Completed {
		return ""
	}
	_ = t.Client.Clock.Sleep(t.Context, quietTime) // some writes show late; the calls fail if the review ends
	after, _ := read(reader)
	if _, kept := shown(); kept != "" || after.Kind != client.Completed {
		return ""
	}
	return fmt.Sprintf("%s of %s; after the last answer no call that only reads shows it, %s: %s", evidence, reader, reader, client.Short(string(after.Result), 200))
}
