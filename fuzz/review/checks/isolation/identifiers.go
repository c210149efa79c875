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

// readByIdentifiers gives identifiers of each user to read-only tools whose answers belong to their
// caller, as the other user. It records a finding if each user gets the texts of the other. If only
// one does, he may be an administrator.
func readByIdentifiers(t *review.T, readers []client.Offer, texts map[client.User][]string) {
	for _, o := range readers {
		label := "identifiers of " + o.Name
		if !ownsAnswers(o) || client.Mentions(string(o.Input), sharedWords) || !t.Selected(label) {
			continue
		}
		for _, name := range jsondoc.SortedKeys(jsondoc.ParseSchema(o.Input).Properties) {
			a, found := readsOther(t, o, name, texts, userPairs[0])
			if found == "" {
				continue
			}
			if _, back := readsOther(t, o, name, texts, userPairs[1]); back != "" {
				t.Fault(label, review.Critical, fmt.Sprintf("%s shows a user what belongs to the other one, who is named by %s: %s", client.Short(o.Name, 60), name, client.Short(found, 80)), a)
				return
			}
		}
	}
}

// readsOther gives identifiers of the first user of a pair to an argument of a tool as the second. It
// returns an answer that is the same for both, differs from that to another identifier, and has a
// text of the first user alone, which it returns as well.
func readsOther(t *review.T, o client.Offer, name string, texts map[client.User][]string, pair [2]client.User) (a client.Answer, found string) {
	s := jsondoc.ParseSchema(jsondoc.ParseSchema(o.Input).Properties[name])
	if s.Listed() || s.TypeOf() != "string" && s.TypeOf() != "integer" {
		return a, ""
	}
	ask := func(id string, as client.User) client.Answer {
		value := jsondoc.Quote(id)
		if s.TypeOf() == "integer" {
			value = json.RawMessage(id)
		}
		return t.Tried(t.Call(t.FlowOf(o).WithArgument(name, value).Call(as)))
	}
	ids := append(identifiersIn(texts[pair[0]]), client.NameOf(t.Options.Target, pair[0]))
	for _, id := range ids {
		if id == "" || s.TypeOf() == "integer" && !json.Valid([]byte(id)) || slices.ContainsFunc(texts[pair[1]], func(piece string) bool { return strings.Contains(piece, id) }) {
			continue
		}
		a = ask(id, pair[1])
		found = ownPiece(a.Text, id, texts[pair[0]])
		if a.Kind == client.Completed && found != "" && ask(id, pair[0]).Text == a.Text && ask(id, pair[1]).Text == a.Text &&
			strings.ReplaceAll(ask(unlike(id), pair[1]).Text, unlike(id), id) != a.Text {
			return a, found
		}
	}
	return a, ""
}

// identifier matches words with a digit.
var identifier = regexp.MustCompile(`[\pL\d_-]*\d[\pL\d_-]*`)

// identifiersIn returns the first identifiers in texts.
func identifiersIn(texts []string) []string {
	var all []string
	for _, id := range identifier.FindAllString(strings.Join(texts, "\n"), -1) {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all[:min(len(all), 2*review.MaxTestedCalls)]
}

// minOwnPiece is the length of the shortest text beside an identifier that shows its owner.
const minOwnPiece = 6

// ownPiece returns one of texts that an answer contains, without an identifier, or "".
func ownPiece(answer, id string, texts []string) string {
	for _, text := range texts {
		piece := strings.TrimSpace(strings.ReplaceAll(text, id, ""))
		if len(piece) >= minOwnPiece && strings.Contains(strings.ReplaceAll(answer, id, ""), piece) {
			return piece
		}
	}
	return ""
}

// unlike returns an identifier of the same form that differs in each digit, or is longer.
func unlike(id string) string {
	if !identifier.MatchString(id) {
		return id + "x"
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '1' + (r-'0'+3)%9
		}
		return r
	}, id)
}
