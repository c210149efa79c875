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
	"sealab/fuzz/review/tokens"
)

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

// mappedGroup returns pairs of arguments that are equal only after their case is mapped, or in a
// compatibility form. Their question alone does not show which of them a server acts on.
func mappedGroup(f client.Flow) nearGroup {
	given := []json.RawMessage{f.Arguments}
	if f.Other != nil {
		given = append(given, f.Other)
	}
	severity := review.Warning
	if f.Last == nil || f.Method != "tools/call" {
		severity = review.Suggestion // nothing is carried out
	}
	return nearGroup{pairs: jsondoc.MappedArguments(f.Offer.InputSchema(), given...), tellsApart: actsOnOwnText, severity: severity,
		differ: "in a letter that becomes another one in upper case, lower case or a compatibility form alone"}
}

// actsOnOwnText reports whether a call with the token of another one acts on the text of its own argument:
// its result has it, twice, and so have the tools that only read, if they show what an honest call acts on, in
// any case. A server that means the same by both may keep one of them.
func actsOnOwnText(t *review.T, m review.Move) bool {
	if m.Target.Last == nil {
		return textsDiffer(t, m)
	}
	given, own := changedText(m)
	before := readTexts(t, m.TargetUser)
	one := t.Fresh(m.Source, m.SourceUser)
	if given == "" || one.Kind != client.Completed || !strings.Contains(one.Text, given) || strings.Contains(one.Text, own) {
		return false
	}
	between := readTexts(t, m.TargetUser)
	for range 2 {
		token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil {
			return false
		}
		a := t.Tried(t.Client.Present(t.Context, m.Target, jsondoc.Quote(token), m.TargetUser))
		if a.Kind != client.Completed || !strings.Contains(a.Text, own) || strings.Contains(a.Text, given) {
			return false
		}
	}
	return !haveMore(inLowerCase(before), inLowerCase(between), strings.ToLower(given)) || haveMore(between, readTexts(t, m.TargetUser), own)
}

// changedText returns the texts of the argument in which the calls of a move differ.
func changedText(m review.Move) (given, own string) {
	source := jsondoc.Members(m.Source.Arguments)
	for name, raw := range jsondoc.Members(m.Target.Arguments) {
		one, _ := jsondoc.Text(source[name])
		two, _ := jsondoc.Text(raw)
		if one != two {
			return one, two
		}
	}
	return "", ""
}

// readTexts returns the texts of the tools that only read.
func readTexts(t *review.T, as client.User) (all []string) {
	readers := t.Readers()
	for _, tool := range readers[:min(len(readers), review.MaxTestedCalls)] {
		all = append(all, t.Call(t.FlowOf(tool).Call(as)).Text)
	}
	return all
}

func inLowerCase(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, strings.ToLower(text))
	}
	return all
}

// haveMore reports whether later readings of the same tools have a word more often.
func haveMore(before, after []string, word string) bool {
	for i := range before {
		if strings.Count(after[i], word) > strings.Count(before[i], word) {
			return true
		}
	}
	return false
}

// shiftInStates moves a character from one argument to another, both in the call and in a readable token of
// it, and reports whether the token is accepted. Its tag then covers the values joined without borders. The
// unchanged token must be refused with the changed arguments.
func shiftInStates(t *review.T, o *review.Oracle, name string) bool {
	input := o.Flow.Offer.InputSchema()
	for _, pair := range jsondoc.ShiftedArguments(input, jsondoc.FullSample(input, 0)) {
		m := review.Move{Source: o.Flow.With(pair[0]), Target: o.Flow.With(pair[1]), SourceUser: o.User, TargetUser: o.User, Strict: true}
		token, _, err := t.Client.Mint(t.Context, m.Source, m.SourceUser)
		if err != nil || withValues(token, pair[0], pair[1]) == token || !refusedOrUnminted(t, o, m) {
			continue
		}
		m.Change = func(token string) string { return withValues(token, pair[0], pair[1]) }
		if refusedOrUnminted(t, o, m) {
			continue
		}
		evidence, is, _ := t.Moved(m)
		if !is {
			continue
		}
		refuteArguments(t, name, "changed from "+withoutTail(token)+" to "+withoutTail(m.Change(token))+": "+evidence, o.Flow)
		if len(t.Findings) > 0 {
			f := &t.Findings[len(t.Findings)-1]
			f.Issue = "a token is accepted in which a character moved from one value to another, as in the arguments"
		}
		return true
	}
	return false
}

// withoutTail returns the beginning of a token.
func withoutTail(token string) string { return token[:min(len(token), 120)] }

// withValues returns a token whose readable text has the arguments one replaced by two, or the token itself
// if it does not have all that differ.
func withValues(token string, one, two []byte) string {
	if text := rewritten(token, one, two); text != token {
		return text
	}
	segments := tokens.Segments(token)
	for _, i := range tokens.CodedSegments(segments) {
		if raw := string(segments[i].Raw()); rewritten(raw, one, two) != raw {
			return tokens.Replaced(segments, i, segments[i].Write([]byte(rewritten(raw, one, two))))
		}
	}
	return token
}

// rewritten returns a text with the values of one, each behind its name, replaced by those of two. It
// returns the text itself if one of them does not occur.
func rewritten(text string, one, two []byte) string {
	was, now := jsondoc.Members(one), jsondoc.Members(two)
	changed := text
	for name, raw := range jsondoc.InOrder(was) {
		old, other := scalarText(raw), scalarText(now[name])
		if old == other || old == "" || other == "" {
			continue
		}
		named := regexp.MustCompile(`(\b` + regexp.QuoteMeta(name) + `\b[\\"']{0,2}\s?[=:]\s?[\\"']{0,2})` + regexp.QuoteMeta(old) + `\b`)
		if !named.MatchString(changed) {
			return text
		}
		changed = named.ReplaceAllString(changed, "${1}"+strings.ReplaceAll(other, "$", "$$"))
	}
	return changed
}

// scalarText returns the text of a string or number.
func scalarText(raw []byte) string {
	if text, ok := jsondoc.Text(raw); ok {
		return text
	}
	return string(raw)
}
