package isolation

import (
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
