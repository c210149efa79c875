package jsondoc

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// maxMapped is the number of pairs that MappedArguments returns.
const maxMapped = 12

// fullWidth is the distance of the full-width forms from ASCII.
const fullWidth = 0xfee0

// likeLetters have, in each row, texts that become an ASCII letter or two in the same way. The first row does
// so in upper case, the second in upper case as well or if case is folded, and the third in lower case. The
// first of a row that occurs in a text is replaced.
var likeLetters = [][][2]string{
	{{"s", "\u017f"}, {"i", "\u0131"}, {"S", "\u017f"}, {"I", "\u0131"}},
	{{"ss", "\u00df"}},
	{{"k", "\u212a"}, {"K", "\u212a"}},
}

// likeTexts returns texts that become a text only in upper or lower case, or in a compatibility form (Unicode
// TR 15): one for each row of likeLetters and a full-width one, or "".
func likeTexts(text string) []string {
	all := make([]string, len(likeLetters)+1)
	for i, row := range likeLetters {
		if at := slices.IndexFunc(row, func(pair [2]string) bool { return strings.Contains(text, pair[0]) }); at >= 0 {
			all[i] = strings.Replace(text, row[at][0], row[at][1], 1)
		}
	}
	i := strings.IndexFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	if i >= 0 {
		all[len(likeLetters)] = text[:i] + string(rune(text[i])+fullWidth) + text[i+1:]
	}
	return all
}

// allLetters is a text for arguments that allow any. It has a letter of each row of likeLetters.
const allLetters = "kiss"

// MappedArguments returns pairs of arguments of which the second has a text that becomes that of the first
// only in upper or lower case, or in a compatibility form. The texts are given ones or, for arguments that
// allow any text, a sample.
func MappedArguments(input json.RawMessage, given ...json.RawMessage) (all [][2]json.RawMessage) {
	s := ParseSchema(input)
	for _, name := range SortedKeys(s.Properties) {
		p := ParseSchema(s.Properties[name])
		if p.TypeOf() != "string" || p.Listed() {
			continue
		}
		sources := slices.Clone(given)
		if p.AnyText() {
			sources = append(sources, WithMember(given[0], name, Quote(allLetters)))
		}
		all = append(all, mappedTexts(input, name, sources)...)
	}
	return all[:min(len(all), maxMapped)]
}

// mappedTexts returns the pairs of one argument, each from the first arguments whose text gives it.
func mappedTexts(input json.RawMessage, name string, sources []json.RawMessage) [][2]json.RawMessage {
	pattern, err := regexp.Compile(ParseSchema(ParseSchema(input).Properties[name]).Pattern)
	pairs := make([][2]json.RawMessage, len(likeLetters)+1)
	for _, source := range sources {
		text, is := Text(Members(source)[name])
		if !is || !Fits(input, source) {
			continue
		}
		for i, like := range likeTexts(text) {
			if like == "" || pairs[i][0] != nil || err == nil && !pattern.MatchString(like) {
				continue // many patterns of ECMAScript are none in Go
			}
			if next := WithMember(source, name, Quote(like)); Fits(input, next) {
				pairs[i] = [2]json.RawMessage{source, next}
			}
		}
	}
	return slices.DeleteFunc(pairs, func(pair [2]json.RawMessage) bool { return pair[0] == nil })
}
