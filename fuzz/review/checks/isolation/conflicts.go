package isolation

import (
	"fmt"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// leaksWordOfConflict carries a call out with a new word in one argument as one user, and then with
// other words as the other user. It records a finding if a refusal of the latter has the word of the
// former, twice, and a read-only tool or a resource shows the word to the former alone.
func leaksWordOfConflict(t *review.T) bool {
	for _, o := range t.Oracles {
		f := o.Flow
		if !o.Completes() || f.Method != "tools/call" {
			continue
		}
		properties := jsondoc.ParseSchema(f.Offer.Input).Properties
		for _, name := range jsondoc.SortedKeys(jsondoc.Members(f.Arguments)) {
			label := "conflicts of " + f.Target + ": " + name
			if !jsondoc.ParseSchema(properties[name]).AnyText() || !t.Selected(label) {
				continue
			}
			for _, pair := range review.UserPairs {
				if a, word := refusesWithWord(t, f, name, pair); word != "" && isPrivate(t, word, pair) {
					t.Refute(review.Finding{Case: label, Severity: review.Critical, Issue: "the refusal of a call shows a text that another user gave", Flow: &f,
						Evidence: fmt.Sprintf("one user gave %s as %s; then, to the other: %s", word, name, review.ExchangeText(a)), Want: "a refusal without it", Got: "shown"})
					return true
				}
			}
		}
	}
	return false
}

// refusesWithWord carries a flow out with a word as the first user of a pair, and twice with other
// words as the second. It returns the last answer, and the word if both are refusals that contain it.
func refusesWithWord(t *review.T, f client.Flow, name string, pair [2]client.User) (a client.Answer, word string) {
	carryOut := func(word string, as client.User) client.Answer {
		return deed{T: t, flow: f.WithArgument(name, jsondoc.Quote(word))}.carryOut(as)
	}
	if word = t.Word(); carryOut(word, pair[0]).Kind != client.Completed {
		return a, ""
	}
	for range 2 {
		if a = carryOut(t.Word(), pair[1]); !a.Refused() || !strings.Contains(a.Message+string(a.Data), word) {
			return a, ""
		}
	}
	return a, word
}

// isPrivate reports whether a read-only tool or a resource shows a word to the first user of a pair,
// and none shows it to the second.
func isPrivate(t *review.T, word string, pair [2]client.User) bool {
	shown := map[client.User]bool{}
	for _, as := range pair {
		for _, call := range t.ReadingCalls() {
			shown[as] = shown[as] || strings.Contains(string(t.Tried(t.Call(call.By(as))).Result), word)
		}
	}
	return shown[pair[0]] && !shown[pair[1]]
}
