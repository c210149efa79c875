package binding

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// argumentMoves returns moves of a token between arguments of one flow. They lead to other
// arguments, also in the first round, and to arguments that differ in one place. The latter start
// from the given arguments and from a full sample.
func argumentMoves(f client.Flow) []review.Move {
	if f.Other == nil {
		return nil
	}
	all := []review.Move{{Source: f, Target: f.With(f.Other)}}
	if len(f.Rounds) > 0 {
		first := f.Stages()[1]
		all = append(all, review.Move{Source: first, Target: first.With(f.Other)})
	}
	input := f.Offer.InputSchema()
	for i, source := range []json.RawMessage{f.Arguments, jsondoc.FullSample(input, 0)} {
		if i > 0 && jsondoc.Same(source, f.Arguments) || jsondoc.Members(source) == nil {
			continue
		}
		changed := jsondoc.ChangedLeaves(input, source, 0)
		for _, target := range changed[:min(len(changed), maxCloseArguments)] {
			all = append(all, review.Move{Source: f.With(source), Target: f.With(target)})
		}
	}
	return all
}

// maxCloseArguments is the number of arguments that differ in one place.
const maxCloseArguments = 8

// refusedOrUnminted makes a first attempt without controls. It reports whether the token is refused
// or not minted.
func refusedOrUnminted(t *review.T, o *review.Oracle, m review.Move) bool {
	token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
	if err != nil {
		return true // the server refuses these arguments
	}
	a := t.Tried(t.Client.Present(t.Context, m.Target, jsondoc.Quote(m.Changed(token)), m.TargetUser))
	return !a.Conclusive() || o.Verdict(a) == review.Refused
}

// maxNearFlows is the number of flows for which near arguments are tested.
const maxNearFlows = 3

// moveNearArguments moves tokens between pairs of near arguments until one is accepted.
func moveNearArguments(t *review.T) {
	for i, o := range t.Oracles {
		name := "near arguments of " + o.Flow.Target
		if i == maxNearFlows {
			return
		}
		if !t.Selected(name) {
			continue
		}
		if moveNearArgumentsOf(t, o, name) {
			return
		}
	}
}

// A nearGroup is a group of pairs of near arguments. A server may mean the same by both of a pair, unless
// it tells them apart.
type nearGroup struct {
	pairs      [][2]json.RawMessage
	tellsApart func(*review.T, review.Move) bool // nil: the arguments differ for every server
	severity   review.Severity                   // of a finding; "": that of other arguments
	differ     string                            // the difference of a pair, with a severity
}

const inSpelling = "in case, spaces, normal form or order alone, or are absent or empty"

// nearGroups returns pairs of near arguments of a flow.
func nearGroups(f client.Flow) []nearGroup {
	input := f.Offer.InputSchema()
	full := jsondoc.FullSample(input, 0)
	var moved, turned [][2]json.RawMessage
	for _, given := range []json.RawMessage{f.Arguments, f.Other, full, jsondoc.WithSlash(input, full)} {
		moved = append(moved, jsondoc.MovedParts(input, given)...)
		turned = append(turned, jsondoc.TurnedLists(input, given, 0)...)
	}
	turned = turned[:min(len(turned), maxTurned)]
	return []nearGroup{
		{pairs: jsondoc.NearArguments(input, full)},
		{pairs: slices.Concat(jsondoc.RenamedArguments(input, full), jsondoc.HashTwins(input, full)), tellsApart: textsDiffer},
		{pairs: moved, tellsApart: textsDiffer, severity: review.Warning, differ: "in the place of a separator"},
		{pairs: turned, tellsApart: orderCounts},
		{pairs: jsondoc.DoubtfulArguments(input, full), tellsApart: textsDiffer, severity: review.Warning, differ: inSpelling},
		mappedGroup(f),
		{pairs: slices.Concat(jsondoc.EqualArguments(input, full), turned), tellsApart: textsDiffer, severity: review.Suggestion, differ: inSpelling},
	}
}

// maxTurned is the number of lists whose items are turned round.
const maxTurned = 8

// moveNearArgumentsOf moves tokens between pairs of near arguments of a flow. It reports whether one is
// accepted.
func moveNearArgumentsOf(t *review.T, o *review.Oracle, name string) bool {
	for _, group := range nearGroups(o.Flow) {
		for _, pair := range group.pairs {
			m := review.Move{Source: o.Flow.With(pair[0]), Target: o.Flow.With(pair[1]), SourceUser: o.User, TargetUser: o.User, Strict: true}
			if refusedOrUnminted(t, o, m) || group.tellsApart != nil && !group.tellsApart(t, m) || acceptsSorted(t, o, m) {
				continue
			}
			evidence, is, _ := t.Moved(m)
			if !is {
				continue
			}
			if refuteArguments(t, name, evidence, o.Flow); group.severity != "" && len(t.Findings) > 0 {
				f := &t.Findings[len(t.Findings)-1]
				f.Severity, f.Issue = group.severity, f.Issue+", which differ "+group.differ+": a fault unless the server means the same by both"
			}
			return true
		}
	}
	return shiftInStates(t, o, name)
}

// acceptsSorted reports whether the names of the target are not sorted and the token is accepted with them
// sorted as well. The server then means the same by both calls, or another pair shows the fault.
func acceptsSorted(t *review.T, o *review.Oracle, m review.Move) bool {
	sorted := m.Target.With(jsondoc.Object(jsondoc.Members(m.Target.Arguments)))
	if string(sorted.Arguments) == string(m.Target.Arguments) {
		return false
	}
	m.Target = sorted
	return !refusedOrUnminted(t, o, m)
}

// textsDiffer reports whether the texts of the server differ between the calls of a move, and not by
// chance: if they vary anyway, the texts of the target must show its argument as it was given.
func textsDiffer(t *review.T, m review.Move) bool {
	one, two := t.ArgumentTexts(m.Source, m.SourceUser), t.ArgumentTexts(m.Target, m.TargetUser)
	if one == "" || two == "" || one == two {
		return false
	}
	for range 4 {
		if again := t.ArgumentTexts(m.Source, m.SourceUser); again != one {
			return showsOwnText(m, one, two)
		}
	}
	return true
}

// orderedText matches texts about an argument whose items have an order.
var orderedText = regexp.MustCompile(`(?i)"(title|description)":"[^"]*\b(in (this|that|the given) order|order (in which|matters|counts)|in sequence|one after (the other|another))\b`)

// orderCounts reports whether the order of a list has a meaning. The server says so, and its texts differ;
// or they contain the words of the arguments in other numbers, each time, as those about the first item.
func orderCounts(t *review.T, m review.Move) bool {
	if orderedText.Match(m.Source.Offer.InputSchema()) && textsDiffer(t, m) {
		return true
	}
	words := anyWord.FindAllString(string(m.Source.Arguments), -1)
	first := ""
	for range review.Repetitions {
		one, two := countsOf(words, t.ArgumentTexts(m.Source, m.SourceUser)), countsOf(words, t.ArgumentTexts(m.Target, m.TargetUser))
		both := fmt.Sprint(one, two)
		if first = cmp.Or(first, both); both != first || maps.Equal(one, two) || len(one) != len(two) {
			return false
		}
	}
	return true
}

var anyWord = regexp.MustCompile(`[\pL\pN]+`)

// countsOf returns how often a text has each of its words that are in a list.
func countsOf(words []string, text string) map[string]int {
	counts := map[string]int{}
	for _, w := range anyWord.FindAllString(text, -1) {
		if slices.Contains(words, w) {
			counts[w]++
		}
	}
	return counts
}

// showsOwnText reports whether only the second of two texts contains an argument of the target that the
// source has in another spelling, without regard to spaces around it.
func showsOwnText(m review.Move, one, two string) bool {
	given := jsondoc.Members(m.Source.Arguments)
	for name, raw := range jsondoc.Members(m.Target.Arguments) {
		own, ok := jsondoc.Text(raw)
		other, also := jsondoc.Text(given[name])
		own, other = strings.TrimSpace(own), strings.TrimSpace(other)
		if ok && also && own != other && strings.Contains(two, own) && !strings.Contains(one, own) {
			return true
		}
	}
	return false
}

// testDuplicateArguments presents tokens with a duplicate argument. It records a finding if the
// question or the result uses one value and the token is bound to the other.
func testDuplicateArguments(t *review.T) {
	for _, o := range t.Oracles {
		own, other := jsondoc.Members(o.Flow.Arguments), jsondoc.Members(o.Flow.Other)
		for _, name := range jsondoc.SortedKeys(own) {
			one, _ := jsondoc.Text(own[name])
			two, _ := jsondoc.Text(other[name])
			if one == two || one == "" || two == "" {
				continue
			}
			if testDuplicateArgument(t, o, name, [2]string{one, two}) {
				return
			}
			break
		}
	}
}

// withDuplicateArgument returns the arguments of a flow with one of them given under two names.
func withDuplicateArgument(f client.Flow, names, values [2]string) json.RawMessage {
	rest := strings.TrimPrefix(string(jsondoc.Object(jsondoc.Without(jsondoc.Members(f.Arguments), names[0]))), "{")
	text := fmt.Sprintf("{%s:%s,%s:%s", jsondoc.Quote(names[0]), jsondoc.Quote(values[0]), jsondoc.Quote(names[1]), jsondoc.Quote(values[1]))
	if rest != "}" {
		text += ","
	}
	return json.RawMessage(text + rest)
}

// testDuplicateArgument gives one argument of a flow two values, in either order. The second may
// have its name in another case.
func testDuplicateArgument(t *review.T, o *review.Oracle, name string, values [2]string) bool {
	title := strings.ToUpper(name[:1]) + name[1:]
	for i, names := range [][2]string{{name, name}, {name, name}, {name, title}, {name, title}} {
		if names[1] == name && i > 1 {
			continue
		}
		one, two := values[i%2], values[1-i%2]
		label := fmt.Sprintf("the argument %s twice, %d", name, i)
		if !t.Selected(label) {
			continue
		}
		both := o.Flow.With(withDuplicateArgument(o.Flow, names, [2]string{one, two}))
		done, bound := two, one // the value that is used, and the other
		switch read := t.ArgumentTexts(both, o.User); {
		case strings.Contains(read, one) == strings.Contains(read, two):
			continue
		case strings.Contains(read, one):
			done, bound = one, two
		}
		source := o.Flow.WithArgument(name, jsondoc.Quote(bound))
		if alone := t.ArgumentTexts(source, o.User); !strings.Contains(alone, bound) || strings.Contains(alone, done) {
			continue // the texts contain the value anyway, or in another form
		}
		if evidence, is, _ := t.Moved(review.Move{Source: source, Target: both, SourceUser: o.User, TargetUser: o.User, Strict: true}); is {
			refuteArguments(t, label, evidence, o.Flow)
			return true
		}
	}
	return false
}
