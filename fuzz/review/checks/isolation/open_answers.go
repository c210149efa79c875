package isolation

import (
	"fmt"
	"regexp"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

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
