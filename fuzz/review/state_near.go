package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// cutLengths are lengths beyond those at which careless servers cut a text.
var cutLengths = []int{300, 4000}

// maxTexts is the number of texts of a call that are cut.
const maxTexts = 6

// joints are texts that join two arguments in careless digests.
func joints(next string) []string {
	return []string{"", "|", ",", ":", "/", ";", " ", "\n", "&" + next + "=", "," + next + "="}
}

// arguments are members of a call; nil if one is absent.
type arguments = map[string]json.RawMessage

// nearPairs are pairs of arguments that differ in few of their values.
type nearPairs struct {
	given      arguments // what both of a pair have
	required   []string
	properties map[string]schema
	all        [][2]json.RawMessage
}

func newNearPairs(input, full json.RawMessage) *nearPairs {
	s := parseSchema(input)
	n := &nearPairs{given: members(full), required: s.Required, properties: map[string]schema{}}
	for name := range n.given {
		n.properties[name] = parseSchema(s.Properties[name])
	}
	return n
}

// named returns the names, in order, of the arguments whose schemas have a property.
func (n *nearPairs) named(has func(schema) bool) (names []string) {
	for _, name := range sortedKeys(n.given) {
		if has(n.properties[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (n *nearPairs) add(one, two arguments) {
	var pair [2]json.RawMessage
	for i, v := range []arguments{one, two} {
		all := maps.Clone(n.given)
		maps.Copy(all, v)
		maps.DeleteFunc(all, func(_ string, raw json.RawMessage) bool { return raw == nil })
		pair[i] = object(all)
	}
	n.all = append(n.all, pair)
}

// farBehind adds a pair of long texts that differ at their ends, and one at their beginnings.
func (n *nearPairs) farBehind(name string, length int) {
	if most := n.properties[name].MaxLength; most == nil || *most > length {
		long := strings.Repeat("x", length)
		n.add(arguments{name: quote(long + "a")}, arguments{name: quote(long + "b")})
		n.add(arguments{name: quote("a" + long)}, arguments{name: quote("b" + long)})
	}
}

// texts adds pairs that differ in the text of one argument.
func (n *nearPairs) texts(name string) {
	pairs := [][2]string{{"probe", "boper"}, {"prob\u00e9", "probe"}, {"prob\u00e9", "prob"}, {"probe\x00a", "probe\x00b"}}
	for _, p := range pairs {
		n.add(arguments{name: quote(p[0])}, arguments{name: quote(p[1])})
	}
	for _, length := range cutLengths {
		n.farBehind(name, length)
	}
}

// integers adds pairs that a float64 or a sign does not tell apart.
func (n *nearPairs) integers(name string) {
	p := n.properties[name]
	if p.allows(1<<53) && p.allows(1<<53+2) {
		n.add(arguments{name: json.RawMessage("9007199254740992")}, arguments{name: json.RawMessage("9007199254740993")})
	}
	if p.allows(7) && p.allows(-7) {
		n.add(arguments{name: json.RawMessage("7")}, arguments{name: json.RawMessage("-7")})
	}
}

// fractions adds pairs that differ behind the point alone, and far behind it.
func (n *nearPairs) fractions(name string) {
	p := n.properties[name]
	for _, v := range [][2]float64{{10.25, 10.75}, {0.25, 0.75}, {10.2501, 10.2504}} {
		if p.allows(v[0]) && p.allows(v[1]) {
			n.add(arguments{name: fmt.Append(nil, v[0])}, arguments{name: fmt.Append(nil, v[1])})
		}
	}
}

// items adds pairs of lists that differ in one item, or whose text moves between items.
func (n *nearPairs) items(name string) {
	p := n.properties[name]
	if p.MinItems > 2 || p.MaxItems != nil && *p.MaxItems < 2 {
		return
	}
	for _, v := range [][2]json.RawMessage{{quoteAll("a", "b"), quoteAll("a", "c")}, {quoteAll("b", "a"), quoteAll("c", "a")}} {
		n.add(arguments{name: v[0]}, arguments{name: v[1]})
	}
	if p.MinItems > 1 {
		return
	}
	for _, joint := range []string{",", "", " ", "|"} {
		n.add(arguments{name: quoteAll("a" + joint + "b")}, arguments{name: quoteAll("a", "b")})
	}
}

// digits adds pairs whose digits move from an integer to a text.
func (n *nearPairs) digits(integer, text string) {
	if p := n.properties[integer]; !p.allows(1) || !p.allows(12) {
		return
	}
	whole := arguments{integer: json.RawMessage("12"), text: quote("probe")}
	n.add(whole, arguments{integer: json.RawMessage("1"), text: quote("2probe")})
	n.add(whole, arguments{integer: json.RawMessage("2"), text: quote("probe1")})
}

// letters adds pairs whose letters move from one text to the next.
func (n *nearPairs) letters(first, second string) {
	n.add(arguments{first: quote("probe"), second: quote("sample")}, arguments{first: quote("sample"), second: quote("probe")})
	for _, joint := range joints(second) {
		n.add(arguments{first: quote("a" + joint + "b"), second: quote("c")}, arguments{first: quote("a"), second: quote("b" + joint + "c")})
	}
}

// nearArguments are pairs of arguments that careless digests confuse: texts that differ
// far behind, behind NUL or in letters beyond ASCII, texts that move from one argument to
// the next, lists that differ in one item, and numbers that a float64, a sign or rounding
// does not tell apart; before them those that differ in an empty value or in an object of
// any members.
func nearArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	n.empties()
	n.free()
	texts := n.named(schema.anyText)
	integers := n.named(func(s schema) bool { return s.typeOf() == "integer" && len(s.Enum) == 0 })
	for _, name := range integers {
		n.integers(name)
	}
	for _, name := range n.named(func(s schema) bool { return s.typeOf() == "number" && len(s.Enum) == 0 }) {
		n.fractions(name)
	}
	for _, name := range n.named(func(s schema) bool { return s.typeOf() == "array" && parseSchema(s.Items).anyText() }) {
		n.items(name)
	}
	if len(texts) > 0 {
		for _, name := range integers {
			n.digits(name, texts[0])
		}
		n.texts(texts[0])
		for _, name := range texts[1:min(len(texts), maxTexts)] {
			n.farBehind(name, cutLengths[0])
		}
	}
	if len(texts) > 1 {
		n.letters(texts[0], texts[1])
	}
	return n.all
}

// equalArguments are pairs of arguments that some servers mean to be the same: texts that
// differ in case, in spaces around them or in their normal form (Unicode TR 15), lists in
// another order, and values that are absent or empty.
func equalArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	for _, name := range sortedKeys(n.given) {
		p := n.properties[name]
		if empty := p.empty(); empty != nil && !slices.Contains(n.required, name) {
			n.add(arguments{name: nil}, arguments{name: empty})
		}
		switch {
		case p.anyText():
			n.add(arguments{name: quote("probe")}, arguments{name: quote("PROBE")})
			n.add(arguments{name: quote("probe")}, arguments{name: quote(" probe ")})
			n.add(arguments{name: quote("prob\u00e9")}, arguments{name: quote("probe\u0301")})
			n.add(arguments{name: quote("probe")}, arguments{name: quote("\uff50robe")})
		case p.typeOf() == "array" && parseSchema(p.Items).anyText():
			n.add(arguments{name: quoteAll("probe", "sample")}, arguments{name: quoteAll("sample", "probe")})
		}
	}
	return n.all
}

// quoteAll is a list of texts.
func quoteAll(texts ...string) json.RawMessage {
	raw, err := json.Marshal(texts)
	if err != nil {
		panic(err) // strings can be written
	}
	return raw
}
