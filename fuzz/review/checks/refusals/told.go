package refusals

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// quoteCase is the case of refusals that repeat what a state contains.
const quoteCase = "a good state elsewhere"

// refusalQuotesState presents good states that contain a random word, to other arguments and as the second
// user. It records a finding if the refusal repeats the word, which the request does not contain.
func refusalQuotesState(t *review.T) bool {
	if !t.Selected(quoteCase) {
		return false
	}
	f := t.Oracle.Flow
	elsewhere := map[client.User]client.Flow{}
	if f.Other != nil {
		elsewhere[t.Oracle.User] = f.With(f.Other)
	}
	if len(t.Options.Target.Second) > 0 && t.Oracle.User == client.FirstUser {
		elsewhere[client.SecondUser] = f
	}
	for _, with := range wordPlaces(f) {
		for _, as := range []client.User{client.SecondUser, client.FirstUser} {
			at, known := elsewhere[as]
			if !known {
				continue
			}
			if evidence := quotesState(t, with, at, as); evidence != "" {
				severity, whom := review.Warning, "another user"
				if as == t.Oracle.User {
					severity, whom = review.Suggestion, "its holder"
				}
				t.Refute(review.Finding{Case: quoteCase, Severity: severity, Issue: "a refusal tells " + whom + " what a state that cannot be read contains",
					Evidence: evidence, Want: "one text without a cause", Got: "a word of the state"})
				return true
			}
		}
	}
	return false
}

// wordPlaces returns functions that put a word into a flow: into its arguments, or into a text of the answers
// before the last question.
func wordPlaces(f client.Flow) []func(word string) client.Flow {
	var all []func(string) client.Flow
	if f.ArgumentsWith("word") != nil {
		all = append(all, func(word string) client.Flow { return f.With(f.ArgumentsWith(word)) })
	}
	for round, answers := range f.Rounds {
		for key := range jsondoc.InOrder(jsondoc.Members(answers)) {
			for name, v := range jsondoc.InOrder(f.Content(round, key)) {
				if _, is := jsondoc.Text(v); is {
					all = append(all, func(word string) client.Flow { return f.WithAnswer(round, key, name, jsondoc.Quote(word)) })
				}
			}
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// quotesState reports how the refusals of two states, each with its own word, repeat the word. It returns ""
// if they do not, or if the state or the request contains the word.
func quotesState(t *review.T, with func(word string) client.Flow, at client.Flow, as client.User) (evidence string) {
	for range 2 {
		word := t.Word()
		f := with(word)
		token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
		if err != nil || strings.Contains(tokens.Readable(token), word) {
			return ""
		}
		if as != t.Oracle.User {
			at = f
		}
		a := t.Tried(t.Client.Present(t.Context, at, jsondoc.Quote(token), as))
		if !a.Refused() || strings.Contains(string(client.BodyOf(a)), word) || !strings.Contains(errorText(a)+a.Text, word) {
			return ""
		}
		evidence = fmt.Sprintf("a state for %s, with the word %s in it, at %s %s -> %v, %s", f, word, at.Target, at.Arguments, a, client.Short(string(a.Data)+a.Message, 200))
	}
	return evidence
}

// dumpCase is the case of refusals that print the whole state.
const dumpCase = "an answer of another type"

// namedValue matches a member of a printed object: its name and its value, in quotes or without.
var namedValue = regexp.MustCompile(`[\w-]+["']?\s*(?::|=>?)\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"',{}\[\]()]+))`)

// A dumpProbe presents answers of another type in a later round of a flow.
type dumpProbe struct {
	t    *review.T
	user client.User
	flow client.Flow // up to the last answers, of which one has another type
}

// A dump is an object in a refusal, and what is known otherwise.
type dump struct {
	printed string
	answer  client.Answer
	token   string
	told    string // the texts of the questions, the tool and the request
}

// refusalDumpsState answers later rounds with values of other types. It records a finding if the refusal prints
// an object that has an earlier answer, which the request does not contain, and values that were never shown.
func refusalDumpsState(t *review.T) bool {
	if !t.Selected(dumpCase) {
		return false
	}
	for _, o := range t.Oracles {
		for _, stage := range o.Flow.Stages() {
			if stage.Last == nil || len(stage.Rounds) == 0 {
				continue
			}
			for _, wrong := range otherTypes(stage) {
				if (dumpProbe{t, o.User, wrong}).refute(o) {
					return true
				}
			}
		}
	}
	return false
}

// otherTypes returns the flow with each member of its last answers replaced by a value of another type.
func otherTypes(f client.Flow) []client.Flow {
	var all []client.Flow
	last := len(f.Rounds)
	for key := range jsondoc.InOrder(jsondoc.Members(f.Last)) {
		for name, v := range jsondoc.InOrder(f.Content(last, key)) {
			other := json.RawMessage(`"sealab"`)
			if _, is := jsondoc.Text(v); is {
				other = json.RawMessage("7919")
			}
			all = append(all, f.WithAnswer(last, key, name, other))
		}
	}
	return all[:min(len(all), review.MaxTestedCalls)]
}

// refute records a finding if the refusals of two states, which differ in one earlier answer, print it.
func (p dumpProbe) refute(o *review.Oracle) bool {
	own, ok := p.present(p.flow)
	if !ok {
		return false
	}
	for round := range p.flow.Rounds {
		for key := range jsondoc.InOrder(jsondoc.Members(p.flow.Rounds[round])) {
			for name, v := range jsondoc.InOrder(p.flow.Content(round, key)) {
				value, _ := jsondoc.Text(v)
				other, text := p.withOther(round, key, name)
				if value == "" || text == "" || !own.shows(value, text) || len(own.hidden(value)) == 0 {
					continue
				}
				again, ok := p.present(other)
				if !ok || !again.shows(text, value) || len(again.hidden(text)) == 0 {
					continue
				}
				p.t.Refute(review.Finding{Case: dumpCase, Severity: review.Warning, Flow: &o.Flow,
					Issue: "the refusal of an answer of another type prints what the state contains, with values that were never shown",
					Evidence: fmt.Sprintf("answers %s; then %s -> %v, %s; never shown: %q; after the answer %s of %s it has that one", p.flow.Rounds[round], p.flow.Last,
						own.answer, client.Short(own.printed, 300), own.hidden(value), text, name),
					Want: "the error without the state", Got: "the state"})
				return true
			}
		}
	}
	return false
}

// withOther returns the flow with another value of one text in an earlier answer, and that value.
func (p dumpProbe) withOther(round int, key, name string) (other client.Flow, text string) {
	asking := p.flow.Stages()[0]
	asking.Rounds, asking.Last = p.flow.Rounds[:round], nil
	_, question, err := p.t.Client.Mint(p.t.Context, asking, p.user)
	if err != nil {
		return other, ""
	}
	content, text := jsondoc.OtherContent(jsondoc.Object(map[string]json.RawMessage{name: p.flow.Content(round, key)[name]}), question.Questions[key].Form())
	v := jsondoc.Members(content)[name]
	if _, is := jsondoc.Text(v); !is {
		return other, ""
	}
	return p.flow.WithAnswer(round, key, name, v), text
}

// present walks a flow and presents its last answers. It reports whether they are refused with an object.
func (p dumpProbe) present(f client.Flow) (d dump, ok bool) {
	call := f.Call(p.user)
	a := p.t.Call(call)
	for _, answers := range f.Answers() {
		if a.Kind != client.Asked || !a.HasState() {
			return d, false
		}
		d.token, d.told = *a.State, d.told+plainText(a.Result)
		a = p.t.Call(p.t.Client.Reply(call, a, answers))
	}
	p.t.Trials++
	text := errorText(a) + a.Text
	begin, end := strings.Index(text, "{"), strings.LastIndex(text, "}")
	if !a.Refused() || begin < 0 || end < begin {
		return d, false
	}
	d.answer, d.printed = a, text[begin:end+1]
	d.told += plainText(f.Offer.Input) + f.Offer.About() + plainText(client.BodyOf(a))
	return d, true
}

// plainText returns the names and the texts of a document, without escapes.
func plainText(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v) // nil if there is none
	return fmt.Sprint(v) + "\n"
}

// shows reports whether the printed object has an earlier answer, and not the other one, although neither the
// last request nor the readable part of the state has it.
func (d dump) shows(value, other string) bool {
	request := strings.ReplaceAll(string(client.BodyOf(d.answer)), d.token, "")
	return client.HasWord(d.printed, value) && !client.HasWord(d.printed, other) && !client.HasWord(request, value) && !client.HasWord(tokens.Readable(d.token), value)
}

// shortestHidden is the length of the shortest value that counts as hidden.
const shortestHidden = 4

// hidden returns the values in the printed object that were never shown, except one that has the earlier answer.
func (d dump) hidden(value string) (all []string) {
	for _, m := range namedValue.FindAllStringSubmatch(d.printed, -1) {
		text := m[1] + m[2] + m[3]
		var plain string
		if json.Unmarshal([]byte(`"`+text+`"`), &plain) == nil {
			text = plain
		}
		if len(text) >= shortestHidden && !client.HasWord(text, value) && !isConstant(text) && !strings.Contains(d.told, text) && !strings.Contains(tokens.Readable(d.token), text) {
			all = append(all, text)
		}
	}
	return all
}

// isConstant reports whether a printed value is a constant of a language.
func isConstant(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "null", "none", "undefined":
		return true
	}
	return false
}
