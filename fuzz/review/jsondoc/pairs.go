package jsondoc

import (
	"encoding/json"
	"maps"
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

// TurnedLists returns pairs of values that differ in the order of one list, at any depth. A list of one
// item gets another one.
func TurnedLists(raw, given json.RawMessage, depth int) (all [][2]json.RawMessage) {
	s := ParseSchema(raw)
	var items []json.RawMessage
	m := Members(given)
	switch {
	case depth > MaxFull:
	case m != nil:
		for name, v := range InOrder(m) {
			for _, pair := range TurnedLists(s.Properties[name], v, depth+1) {
				all = append(all, [2]json.RawMessage{Object(With(m, name, pair[0])), Object(With(m, name, pair[1]))})
			}
		}
	case json.Unmarshal(given, &items) == nil && len(items) > 0:
		if len(items) == 1 {
			items = append(items, ChangedLeaves(s.Items, items[0], depth+1)...)
			items = items[:min(len(items), 2)]
		}
		turned := slices.Clone(items)
		slices.Reverse(turned)
		if pair := [2]json.RawMessage{list(items), list(turned)}; string(pair[0]) != string(pair[1]) && Fits(raw, pair[0]) && Fits(raw, pair[1]) {
			all = append(all, pair)
		}
		for _, pair := range TurnedLists(s.Items, items[0], depth+1) {
			all = append(all, [2]json.RawMessage{list(append([]json.RawMessage{pair[0]}, items[1:]...)), list(append([]json.RawMessage{pair[1]}, items[1:]...))})
		}
	}
	return all
}

// list returns a list of values.
func list(items []json.RawMessage) json.RawMessage {
	raw, _ := json.Marshal(items) // values that were read encode
	return raw
}

// maxRenamed is the number of pairs that RenamedArguments returns for two names.
const maxRenamed = 6

// RenamedArguments returns pairs of arguments with the same values in the same order under other names: two
// names are swapped, or three move on. A digest that joins the values of a document does not
// distinguish them.
func RenamedArguments(input, full json.RawMessage) [][2]json.RawMessage {
	given, properties := Members(full), ParseSchema(input).Properties
	var all [][2]json.RawMessage
	add := func(names ...string) {
		values := sharedValues(properties, names)
		if len(values) < len(names) {
			return
		}
		moved := append(slices.Clone(names[1:]), names[0])
		all = append(all, [2]json.RawMessage{inOrder(given, names, values), inOrder(given, moved, values)})
	}
	names := SortedKeys(given)
	for i, name := range names {
		for _, other := range names[i+1:] {
			add(name, other)
		}
	}
	all = all[:min(len(all), maxRenamed)]
	for i := range max(0, len(names)-2) {
		add(names[i : i+3]...)
	}
	return all[:min(len(all), maxRenamed+1)]
}

// sharedValues returns different values that the schemas of all names allow.
func sharedValues(properties map[string]json.RawMessage, names []string) []json.RawMessage {
	var all []json.RawMessage
	for _, name := range names {
		one := Samples(properties[name], 0)
		for _, v := range append(one, alternatives(properties[name], one[0])...) {
			known := slices.ContainsFunc(all, func(k json.RawMessage) bool { return alike(k, v) })
			fits := func(name string) bool { return Fits(properties[name], v) }
			if !known && !slices.ContainsFunc(names, func(name string) bool { return !fits(name) }) {
				all = append(all, v)
			}
		}
	}
	return all
}

// inOrder writes an object whose first members have the names and values in this order.
func inOrder(given Arguments, names []string, values []json.RawMessage) json.RawMessage {
	all := maps.Clone(given)
	for i, name := range names {
		all[name] = values[i]
	}
	rest := slices.DeleteFunc(SortedKeys(given), func(name string) bool { return slices.Contains(names, name) })
	return ordered(all, slices.Concat(names, rest))
}

// hashTwins are pairs of values with equal weak hashes. The hashes of numbers are those of Python, of
// Java and of 32 bits. Those of texts are that of Java, DJB2, Adler-32, CRC-32 and FNV-1a.
var hashTwins = [][2]string{{"-1", "-2"}, {"0", "2305843009213693951"}, {"0", "-1"}, {"1", "4294967297"},
	{`"AaAa"`, `"BBBB"`}, {`"azaz"`, `"bYbY"`}, {`"acaaca"`, `"babbab"`}, {`"plumless"`, `"buckeroo"`}, {`"costarring"`, `"liquid"`}}

// maxTwins is the number of arguments that get hashTwins.
const maxTwins = 4

// HashTwins returns pairs of arguments that differ in a value with an equal weak hash.
func HashTwins(input, full json.RawMessage) [][2]json.RawMessage {
	n, properties := newNearPairs(input, full), ParseSchema(input).Properties
	names := n.named(func(s Schema) bool { return slices.Contains([]string{"string", "integer", "number"}, s.TypeOf()) })
	for _, name := range names[:min(len(names), maxTwins)] {
		for _, twin := range hashTwins {
			one, two := json.RawMessage(twin[0]), json.RawMessage(twin[1])
			if Fits(properties[name], one) && Fits(properties[name], two) {
				n.add(Arguments{name: one}, Arguments{name: two})
			}
		}
	}
	return n.all
}
