package refusals

import (
	"fmt"
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
