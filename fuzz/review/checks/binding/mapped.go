package binding

import (
	"encoding/json"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

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
