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

// restrictedWords matches texts of tools that keep a choice for some users.
var restrictedWords = regexp.MustCompile(`(?i)\bfor (?:the |an? |our )?` + officials + `|\b` + officials + `[ -]only\b|\bonly (?:for|to|by) (?:the |an? |our )?` + officials +
	`|\b(?:needs?|requires?) (?:the |an? )?(?:` + officials + `|\w+ (?:role|rights?|permissions?))|\brestricted to\b|\bprivileged\b`)

// officials matches users who may see more than others.
const officials = `(?:office|admin\w*|staff|managers?|management|supervisors?|moderators?|editors?|operators?|auditors?|accountants?|accounting|bookkeep\w+|heads?|leads?|leaders?|boss(?:es)?|human resources|hr|payroll|superusers?)\b`

// readByChoices gives values that a schema lists to read-only tools that keep a choice for some
// users. It records a finding if each user gets texts of the other, which other calls show to that
// one alone. If only one does, he may be one of these users.
func readByChoices(t *review.T, readers []client.Offer, texts map[client.User][]string) {
	for _, o := range readers {
		label := "choices of " + o.Name
		if !restrictedWords.MatchString(o.Description+"\n"+string(o.Input)) || !t.Selected(label) {
			continue
		}
		for _, c := range choicesOf(t, o) {
			a, found := choiceShowsOther(t, c.call, texts, review.UserPairs[0])
			if found == "" {
				continue
			}
			if _, back := choiceShowsOther(t, c.call, texts, review.UserPairs[1]); back != "" {
				t.Fault(label, review.Warning, fmt.Sprintf("%s says that a choice is for some users, and shows each user what belongs to the other one if %s: %s",
					client.Short(o.Name, 60), c.name, client.Short(found, 80)), a)
				return
			}
		}
	}
}

// A choice is a call with one of the values that an argument may have.
type choice struct {
	name string
	call client.Call
}

// quotedWord matches a value in a description.
var quotedWord = regexp.MustCompile("[\"'`]([\\pL\\d_-]+)[\"'`]")

// choicesOf returns calls of a tool with the values of lists, booleans, and texts that a description
// quotes.
func choicesOf(t *review.T, o client.Offer) []choice {
	var all []choice
	f := t.FlowOf(o)
	for name, s := range jsondoc.Fields(o.Input) {
		var values []json.RawMessage
		switch {
		case s.Listed(), s.TypeOf() == "boolean":
			values = jsondoc.Samples(s.Raw, 0)
		case s.TypeOf() == "string":
			for _, m := range quotedWord.FindAllStringSubmatch(o.Description+"\n"+s.About, -1) {
				values = append(values, jsondoc.Quote(m[1]))
			}
		}
		for _, v := range values {
			all = append(all, choice{fmt.Sprintf("%s is %s", name, v), f.WithArgument(name, v).Call(client.FirstUser)})
		}
	}
	return all[:min(len(all), 2*review.MaxTestedCalls)]
}

// choiceShowsOther makes a call twice as the second user of a pair. It returns the last answer and a
// text of the first user that both answers contain, and that only he can read otherwise, or "".
func choiceShowsOther(t *review.T, call client.Call, texts map[client.User][]string, pair [2]client.User) (a client.Answer, found string) {
	call = call.By(pair[1])
	first := t.Tried(t.Call(call))
	if a = t.Tried(t.Call(call)); first.Kind != client.Completed || a.Kind != client.Completed {
		return a, ""
	}
	for _, text := range texts[pair[0]] {
		if strings.Contains(first.Text, text) && strings.Contains(a.Text, text) {
			if !isPrivate(t, jsonText(text), pair) {
				return a, ""
			}
			return a, text
		}
	}
	return a, ""
}

// jsonText returns a text as it is written within JSON.
func jsonText(text string) string { return strings.Trim(string(jsondoc.Quote(text)), `"`) }
