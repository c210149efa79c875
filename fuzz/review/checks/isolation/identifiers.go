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

// otherWords are parts of texts of tools that show what belongs to others beside what belongs to their
// caller.
var otherWords = []string{"other", "anyone", "anybody", "friend", "opponent", "rival", "neighbo", "rank"}

// readByIdentifiers gives identifiers of each user to read-only tools whose answers belong to their
// caller, as the other user. It records a finding if each user gets the texts of the other. If only
// one does, he may be an administrator.
func readByIdentifiers(t *review.T, readers []client.Offer, texts map[client.User][]string) {
	for _, o := range readers {
		label := "identifiers of " + o.Name
		if !ownsAnswers(o) || client.Mentions(string(o.Input), sharedWords) || !t.Selected(label) {
			continue
		}
		places := idPlacesIn(o.Input, t.Sample(o), "", 0)
		for _, p := range places[:min(len(places), 2*review.MaxTestedCalls)] {
			if p.list && client.Mentions(o.About()+string(o.Input), otherWords) {
				continue
			}
			a, found := idReader{t, o, p, texts, review.UserPairs[0]}.readsOther()
			if found == "" {
				continue
			}
			if _, back := (idReader{t, o, p, texts, review.UserPairs[1]}).readsOther(); back != "" {
				t.Fault(label, review.Critical, fmt.Sprintf("%s shows a user what belongs to the other one, who is named by %s: %s", client.Short(o.Name, 60), p.name, client.Short(found, 80)), a)
				return
			}
		}
	}
}

// An idPlace is a place in the arguments of a tool that takes an identifier, or a list of them.
type idPlace struct {
	name    string
	integer bool
	list    bool
	fill    func(ids ...string) json.RawMessage // the arguments with identifiers in this place
}

// maxIDDepth is the depth of the deepest places for identifiers.
const maxIDDepth = 4

// idPlacesIn returns the places for identifiers in a value with a name, which is "" for the arguments.
func idPlacesIn(schema, given json.RawMessage, name string, depth int) []idPlace {
	s := jsondoc.ParseSchema(schema)
	if s.Listed() || depth > maxIDDepth {
		return nil
	}
	var all []idPlace
	switch s.TypeOf() {
	case "string":
		all = append(all, idPlace{name, false, false, func(ids ...string) json.RawMessage { return jsondoc.Quote(ids[0]) }})
	case "integer":
		all = append(all, idPlace{name, true, false, func(ids ...string) json.RawMessage { return json.RawMessage(ids[0]) }})
	case "array":
		for _, p := range idPlacesIn(s.Items, jsondoc.Samples(s.Items, 0)[0], name, depth+1) {
			if !p.list {
				all = append(all, idPlace{p.name, p.integer, true, p.filledList})
			}
		}
	case "object":
		for member, property := range jsondoc.InOrder(s.Properties) {
			value, ok := jsondoc.Members(given)[member]
			if !ok {
				value = jsondoc.Samples(property, 0)[0]
			}
			for _, p := range idPlacesIn(property, value, strings.TrimPrefix(name+"."+member, "."), depth+1) {
				all = append(all, idPlace{p.name, p.integer, p.list, func(ids ...string) json.RawMessage {
					return jsondoc.WithMember(given, member, p.fill(ids...))
				}})
			}
		}
	}
	return all
}

// filledList returns a list whose items have one identifier each.
func (p idPlace) filledList(ids ...string) json.RawMessage {
	var items []string
	for _, id := range ids {
		items = append(items, string(p.fill(id)))
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]")
}

// An idReader gives identifiers of the first user of a pair to a place in the arguments of a tool, as the
// second.
type idReader struct {
	*review.T
	tool  client.Offer
	place idPlace
	texts map[client.User][]string // that each user alone has
	pair  [2]client.User
}

// readsOther returns an answer that has a text of the first user alone, and the text, or "".
func (r idReader) readsOther() (a client.Answer, found string) {
	reads := r.readsByID
	if r.place.list {
		reads = r.readsInList
	}
	for _, id := range r.identifiersOf(r.pair[0], r.pair[1]) {
		if a, found = reads(id); found != "" {
			return a, found
		}
	}
	return a, ""
}

// identifiersOf returns the identifiers in the texts of a user, and the user's name, without those in the
// texts of the other user.
func (r idReader) identifiersOf(as, other client.User) []string {
	all := append(identifiersIn(r.texts[as]), client.NameOf(r.Options.Target, as))
	return slices.DeleteFunc(all, func(id string) bool {
		return id == "" || r.place.integer && !json.Valid([]byte(id)) || slices.ContainsFunc(r.texts[other], func(piece string) bool { return strings.Contains(piece, id) })
	})
}

func (r idReader) ask(as client.User, ids ...string) client.Answer {
	return r.Tried(r.Call(r.FlowOf(r.tool).With(r.place.fill(ids...)).Call(as)))
}

// readsByID asks for an identifier. The answer must be the same for both users, and differ from that to
// another identifier.
func (r idReader) readsByID(id string) (a client.Answer, found string) {
	a = r.ask(r.pair[1], id)
	found = ownPiece(a.Text, id, r.texts[r.pair[0]], r.texts[r.pair[1]])
	if a.Kind == client.Completed && found != "" && r.ask(r.pair[0], id).Text == a.Text && r.ask(r.pair[1], id).Text == a.Text &&
		strings.ReplaceAll(r.ask(r.pair[1], unlike(id)).Text, unlike(id), id) != a.Text {
		return a, found
	}
	return a, ""
}

// readsInList asks for a list of an identifier, alone, behind an own one, and in front of it. The answer
// must have the text twice, and that to a list with another identifier must not.
func (r idReader) readsInList(id string) (a client.Answer, found string) {
	own := ownLike(id, r.identifiersOf(r.pair[1], r.pair[0]))
	for _, list := range []func(id string) []string{
		func(id string) []string { return []string{id} },
		func(id string) []string { return []string{own, id} },
		func(id string) []string { return []string{id, own} },
	} {
		if a = r.ask(r.pair[1], list(id)...); a.Kind != client.Completed {
			continue
		}
		found = pieceBeside(a.Text, r.ask(r.pair[1], list(unlike(id))...).Text, id, r.texts[r.pair[0]])
		if found != "" && strings.Contains(r.ask(r.pair[1], list(id)...).Text, found) {
			return a, found
		}
	}
	return a, ""
}

// pieceBeside returns one of texts, or its part without an identifier, that an answer contains and
// another answer does not, or "".
func pieceBeside(answer, other, id string, texts []string) string {
	for _, text := range texts {
		for _, piece := range []string{text, strings.TrimSpace(strings.ReplaceAll(text, id, ""))} {
			if len(piece) >= minOwnPiece && strings.Contains(answer, piece) && !strings.Contains(other, piece) {
				return piece
			}
		}
	}
	return ""
}

// ownLike returns the first of ids that has the length and the separators of another one, or else the
// first. Without any it returns the other one.
func ownLike(id string, ids []string) string {
	form := func(id string) string { return wordCharacter.ReplaceAllString(id, "x") }
	if i := slices.IndexFunc(ids, func(own string) bool { return form(own) == form(id) }); i >= 0 {
		return ids[i]
	}
	return append(ids, id)[0]
}

var wordCharacter = regexp.MustCompile(`[\pL\d]`)

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

// minOwnPiece is the length of the shortest text beside an identifier that shows its owner, fewWords the number
// of words that do, and minOwnWords the length of the shortest such words.
const (
	minOwnPiece = 6
	fewWords    = 3
	minOwnWords = 10
)

// ownPiece returns one of texts, or a few of its words, that an answer contains, without an identifier, or "".
// The words are in none of the texts of others.
func ownPiece(answer, id string, texts, others []string) string {
	answer = inWords(strings.ReplaceAll(answer, id, ""))
	for _, text := range texts {
		piece := inWords(strings.ReplaceAll(text, id, ""))
		if len(piece) >= minOwnPiece && strings.Contains(answer, piece) {
			return piece
		}
		words := strings.Fields(piece)
		for i := range max(0, len(words)-1) {
			few := strings.Join(words[i:min(len(words), i+fewWords)], " ")
			within := func(other string) bool { return strings.Contains(inWords(other), few) }
			if len(few) >= minOwnWords && strings.Contains(answer, few) && !slices.ContainsFunc(others, within) {
				return few
			}
		}
	}
	return ""
}

// inWords returns a text with one space between its words.
func inWords(text string) string { return strings.Join(strings.Fields(text), " ") }

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
