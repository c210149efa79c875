package isolation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// ownWords matches texts of tools whose answers belong to their caller.
var ownWords = regexp.MustCompile(`(?i)(?:\b|_)(?:yours?|my|mine|own)(?:\b|_)`)

// sharedWords are parts of texts of tools whose answers belong to several users.
var sharedWords = []string{"team", "all ", "shared", "public", "every", "group", "compan", "organi", "colleague", "family", "project", "room", "channel", "board", "department", "tenant", "feed", "news", "notif", "inbox", "timeline", "announce", "message"}

// minOwnTexts is the number of texts of one user that must appear in the answers to the other.
const minOwnTexts = 2

// readOwnAnswers calls read-only tools whose answers belong to their caller, as both users, if the
// tools give each of them texts of its own.
func readOwnAnswers(t *review.T) {
	if !t.Options.Effects || t.Client.HTTP == nil {
		return
	}
	readers := t.Lookups()
	if readDeeds(t, readers[:min(len(readers), review.MaxTestedCalls)]); len(t.Findings) > 0 {
		return
	}
	readers = t.Readers()
	readers = readers[:min(len(readers), review.MaxTestedCalls)]
	texts := ownTexts(t, readers)
	if len(texts[client.FirstUser]) == 0 || len(texts[client.SecondUser]) == 0 {
		return
	}
	if readFirstCallers(t, readers, texts); len(t.Findings) == 0 {
		readByIdentifiers(t, readers, texts)
	}
	if len(t.Findings) == 0 {
		readByChoices(t, readers, texts)
	}
}

// readFirstCallers records a finding if a tool gives both users the same answers, with texts that
// other tools give to one of them alone, and with no such text of the other.
func readFirstCallers(t *review.T, readers []client.Offer, texts map[client.User][]string) {
	for _, o := range readers {
		label := "the first caller of " + o.Name
		if !ownsAnswers(o) || !t.Selected(label) {
			continue
		}
		a, found := answersOneUser(t, o, texts)
		if len(found) < minOwnTexts {
			continue
		}
		if _, again := answersOneUser(t, o, texts); slices.Equal(found, again) {
			t.Fault(label, review.Warning, fmt.Sprintf("%s gives both users what other tools give to one of them alone: %s", client.Short(o.Name, 60), client.Short(found[0], 80)), a)
			return
		}
	}
}

// textPiece matches a line, or a string in JSON.
var textPiece = regexp.MustCompile(`[^\n"\\]{8,}`)

// ownTexts returns the texts that read-only tools give to each user twice, and that no answer to
// the other user contains. It leaves out tools that give both users what belongs to their caller.
func ownTexts(t *review.T, readers []client.Offer) map[client.User][]string {
	own, all := map[client.User][]string{}, map[client.User]string{}
	for _, o := range readers {
		call := t.FlowOf(o).Call(client.FirstUser)
		first, second := twoTexts(t, call, client.FirstUser), twoTexts(t, call, client.SecondUser)
		if first == second && ownsAnswers(o) {
			continue
		}
		for as, texts := range map[client.User][2]string{client.FirstUser: first, client.SecondUser: second} {
			all[as] += texts[0] + "\n" + texts[1] + "\n"
			if texts[0] == texts[1] {
				own[as] = append(own[as], textPiece.FindAllString(texts[0], -1)...)
			}
		}
	}
	for _, pair := range review.UserPairs {
		own[pair[0]] = slices.DeleteFunc(own[pair[0]], func(piece string) bool { return strings.Contains(all[pair[1]], piece) })
	}
	return own
}

// twoTexts makes a call twice and returns the texts of its results.
func twoTexts(t *review.T, call client.Call, as client.User) (texts [2]string) {
	for i := range texts {
		texts[i] = t.Tried(t.Call(call.By(as))).Text
	}
	return texts
}

// ownsAnswers reports whether a tool says that its answers belong to its caller.
func ownsAnswers(o client.Offer) bool {
	says := o.Name + " " + o.Description
	return ownWords.MatchString(says) && !client.Mentions(says, sharedWords)
}

// answersOneUser calls a tool with several arguments as both users. If the answers are equal for
// both and have texts of one user alone, it returns these texts and the last answer with one.
func answersOneUser(t *review.T, o client.Offer, texts map[client.User][]string) (last client.Answer, found []string) {
	owners := map[client.User]bool{}
	for _, arguments := range numberedArguments(o, t.Sample(o), texts) {
		f := t.FlowOf(o).With(arguments)
		one, two := t.Tried(t.Call(f.Call(client.FirstUser))), t.Tried(t.Call(f.Call(client.SecondUser)))
		if one.Kind != client.Completed || two.Kind != client.Completed || one.Text != two.Text {
			return last, nil
		}
		for owner, pieces := range texts {
			for _, piece := range pieces {
				if strings.Contains(two.Text, piece) {
					owners[owner], last = true, two
					found = append(found, piece)
				}
			}
		}
	}
	if len(owners) != 1 {
		return last, nil
	}
	slices.Sort(found)
	return last, slices.Compact(found)
}

// wholeNumber matches a number without leading zeros.
var wholeNumber = regexp.MustCompile(`[1-9]\d{0,4}`)

// numberedArguments returns arguments of a tool: a sample and, if the tool takes an integer, the
// numbers in the texts of the users.
func numberedArguments(o client.Offer, sample []byte, texts map[client.User][]string) [][]byte {
	all := [][]byte{sample}
	for name, s := range jsondoc.Fields(o.Input) {
		if s.TypeOf() != "integer" {
			continue
		}
		numbers := wholeNumber.FindAllString(strings.Join(slices.Concat(texts[client.FirstUser], texts[client.SecondUser]), "\n"), -1)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		for _, n := range numbers[:min(len(numbers), 2*review.MaxTestedCalls)] {
			all = append(all, jsondoc.WithMember(sample, name, []byte(n)))
		}
		break
	}
	return all
}

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
