package isolation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// minDeedID is the length of the shortest identifier in a result that is given to other tools.
const minDeedID = 4

// readDeeds carries deeds out as both users, and gives the identifiers in their results to read-only tools
// whose answers belong to their caller, as the other user. It records a finding if each user gets what the
// tool shows to the other. If only one does, he may be an administrator. The identifiers must count up, or no
// other tool may show them to the other user, because some servers give what they show to all who know a
// random one.
func readDeeds(t *review.T, readers []client.Offer) {
	var all []deedReader
	for _, o := range readers {
		if !ownsAnswers(o) || client.Mentions(string(o.Input)+o.About(), slices.Concat(sharedWords, otherWords)) {
			continue
		}
		for _, p := range idPlacesIn(o.Input, t.Sample(o), "", 0) {
			if !p.list {
				all = append(all, deedReader{T: t, readers: readers, tool: o, place: p})
			}
		}
	}
	if len(all) == 0 {
		return
	}
	deeds := slices.DeleteFunc(deedsOf(t), func(d deed) bool {
		return slices.ContainsFunc(readers, func(o client.Offer) bool { return o.Name == d.flow.Target })
	})
	for _, d := range deeds[:min(len(deeds), review.MaxTestedCalls)] {
		label := "identifiers of results of " + d.flow.Target
		if !t.Selected(label) {
			continue
		}
		ids, next := newIDs(d)
		for _, x := range all {
			if x.ids, x.next = ids, next; x.readsBoth(d, label) {
				return
			}
		}
	}
}

// newIDs carries a deed out twice as each user and returns the identifiers that the first result of each
// has alone, the longest first. Other words of results are the same each time. If identifiers count up, next has
// those of the second results behind them.
func newIDs(d deed) (ids map[client.User][]string, next map[string]string) {
	texts := map[client.User][2]string{}
	ids, next = map[client.User][]string{}, map[string]string{}
	for _, as := range client.BothUsers {
		a := d.carryOut(as)
		texts[as] = [2]string{a.Text, d.carryOut(as).Text}
		if a.Kind != client.Completed {
			return ids, next
		}
	}
	for _, pair := range review.UserPairs {
		all := identifiersIn([]string{texts[pair[0]][0]})
		all = slices.DeleteFunc(all, func(id string) bool {
			return len(id) < minDeedID || strings.Contains(texts[pair[0]][1]+texts[pair[1]][0]+texts[pair[1]][1], id)
		})
		slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
		ids[pair[0]] = all[:min(len(all), review.MaxTestedCalls)]
		later := identifiersIn([]string{texts[pair[0]][1]})
		for _, id := range ids[pair[0]] {
			if i := slices.IndexFunc(later, func(other string) bool { return countsUp(id, other) }); i >= 0 {
				next[id] = later[i]
			}
		}
	}
	return ids, next
}

// maxIDStep is the largest step of identifiers that count up. Calls of other clients may be between two.
const maxIDStep = 16

// idTail matches the number at the end of an identifier, which may be hexadecimal.
var idTail = regexp.MustCompile(`[0-9a-fA-F]+$`)

// countsUp reports whether an identifier has the form of another one and a number that is larger by a few.
func countsUp(one, two string) bool {
	tails := [2]string{idTail.FindString(one), idTail.FindString(two)}
	if len(tails[0]) < minDeedID || strings.TrimSuffix(one, tails[0]) != strings.TrimSuffix(two, tails[1]) {
		return false
	}
	for _, base := range []int{10, 16} {
		a, err := strconv.ParseUint(tails[0], base, 64)
		b, other := strconv.ParseUint(tails[1], base, 64)
		if err == nil && other == nil && b > a && b-a <= maxIDStep {
			return true
		}
	}
	return false
}

// A deedReader gives identifiers of results to a place in the arguments of a read-only tool.
type deedReader struct {
	*review.T
	readers []client.Offer
	tool    client.Offer
	place   idPlace
	ids     map[client.User][]string // in the results of each user alone
	next    map[string]string        // what follows identifiers that count up, in a later result of their user
}

// readsBoth records a finding if each user reads what belongs to an identifier of the other.
func (x deedReader) readsBoth(d deed, label string) bool {
	a, id := x.readsOther(review.UserPairs[0])
	if id == "" {
		return false
	}
	if _, back := x.readsOther(review.UserPairs[1]); back == "" {
		return false
	}
	severity, instead := review.Warning, "the tools show the identifier to its user alone"
	if x.next[id] != "" {
		instead = "a later one has " + x.next[id] + ", so users can guess those of others"
	}
	if tool := x.refusing(id, review.UserPairs[0]); tool != "" {
		severity, instead = review.Critical, client.Short(tool, 60)+" refuses it to the other user"
	}
	t := x.T
	t.Refute(review.Finding{Case: label, Severity: severity, Flow: &d.flow,
		Issue:    fmt.Sprintf("%s shows a user what belongs to a result of %s of the other one", client.Short(x.tool.Name, 60), client.Short(d.flow.Target, 60)),
		Evidence: fmt.Sprintf("the result of one user has %s, and %s; then, to the other: %s", id, instead, review.ExchangeText(a)), Want: "refused, as an unknown identifier", Got: "shown"})
	return true
}

// readsOther returns the answer of the tool to the second user of a pair about an identifier of the first,
// and the identifier, or "".
func (x deedReader) readsOther(pair [2]client.User) (client.Answer, string) {
	for _, id := range x.ids[pair[0]] {
		if x.place.integer && !wholeID(id) || !x.fits(id) {
			continue
		}
		if a := x.ask(x.tool, x.place, id, pair[1]); x.shown(a, id, pair) && (x.next[id] != "" || isPrivate(x.T, id, pair) || x.refusing(id, pair) != "") {
			return a, id
		}
	}
	return client.Answer{}, ""
}

// wholeID reports whether an identifier is a whole number without leading zeros.
func wholeID(id string) bool {
	return strings.Trim(id, "0123456789") == "" && id[0] != '0' && len(id) < 16
}

func (x deedReader) fits(id string) bool { return jsondoc.Fits(x.tool.Input, x.place.fill(id)) }

func (x deedReader) ask(tool client.Offer, p idPlace, id string, as client.User) client.Answer {
	return x.Tried(x.Call(x.FlowOf(tool).With(p.fill(id)).Call(as)))
}

// shown reports whether an answer to the second user of a pair is that to the first, twice, and is not that
// to an unknown identifier.
func (x deedReader) shown(a client.Answer, id string, pair [2]client.User) bool {
	same := func(as client.User) bool {
		again := x.ask(x.tool, x.place, id, as)
		return again.Kind == client.Completed && again.Text == a.Text
	}
	return a.Kind == client.Completed && a.Text != "" && same(pair[0]) && same(pair[1]) && !x.isUnknown(a, id, pair[1])
}

// isUnknown reports whether an answer about an identifier is that about another one of the same form.
func (x deedReader) isUnknown(a client.Answer, id string, as client.User) bool {
	other := unlike(id)
	return strings.ReplaceAll(x.ask(x.tool, x.place, other, as).Text, other, id) == a.Text
}

// refusing returns a read-only tool that serves each user an identifier of an own result, and refuses the
// second user of a pair one of the first, or "".
func (x deedReader) refusing(id string, pair [2]client.User) string {
	for _, o := range x.readers {
		for _, p := range idPlacesIn(o.Input, x.Sample(o), "", 0) {
			if p.list || p.integer && !wholeID(id) || o.Name == x.tool.Name || !jsondoc.Fits(o.Input, p.fill(id)) {
				continue
			}
			serves := func(own string) bool { return x.ask(o, p, own, pair[1]).Kind == client.Completed }
			if x.ask(o, p, id, pair[0]).Kind == client.Completed && x.ask(o, p, id, pair[1]).Refused() && slices.ContainsFunc(x.ids[pair[1]], serves) {
				return o.Name
			}
		}
	}
	return ""
}
