package jsondoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cutLengths are lengths above those at which careless servers truncate a text, in bytes.
var cutLengths = []int{300, 4000}

// maxTexts is the number of arguments of a call that get such long texts.
const maxTexts = 6

// joints returns separators with which a careless digest may join two arguments. It leaves slashes to
// [MovedParts].
func joints(next string) []string {
	return append(strings.Split(strings.Replace(separators, "/", "", 1), ""), "", "::", ", ", "&"+next+"=", ","+next+"=")
}

// separators are the characters that join arguments or parts of names.
const separators = "|,:/;.-_#@ \n\t\x00\x1f"

// Arguments are the arguments of a call. A nil value means that the argument is absent.
type Arguments = map[string]json.RawMessage

// nearPairs collects pairs of arguments that differ in few values.
type nearPairs struct {
	given      Arguments // the values that both of a pair have
	required   []string
	properties map[string]Schema
	all        [][2]json.RawMessage
}

func newNearPairs(input, full json.RawMessage) *nearPairs {
	s := ParseSchema(input)
	n := &nearPairs{given: Members(full), required: s.Required, properties: map[string]Schema{}}
	for name := range n.given {
		n.properties[name] = ParseSchema(s.Properties[name])
	}
	return n
}

// named returns the sorted names of the arguments for whose schemas has returns true.
func (n *nearPairs) named(has func(Schema) bool) []string {
	return slices.DeleteFunc(SortedKeys(n.given), func(name string) bool { return !has(n.properties[name]) })
}

func (n *nearPairs) add(one, two Arguments) {
	var pair [2]json.RawMessage
	for i, v := range []Arguments{one, two} {
		all := maps.Clone(n.given)
		maps.Copy(all, v)
		maps.DeleteFunc(all, func(_ string, raw json.RawMessage) bool { return raw == nil })
		pair[i] = Object(all)
	}
	n.all = append(n.all, pair)
}

// farBehind adds a pair of long texts that differ at the end, and one that differs at the start.
// The texts are as long as the schema allows, up to length.
func (n *nearPairs) farBehind(name string, length int) {
	most := n.properties[name].MaxLength
	if most != nil && *most > length/4 {
		length = min(length, *most-1)
	}
	if most == nil || *most > length {
		long := strings.Repeat("x", length)
		n.add(Arguments{name: Quote(long + "a")}, Arguments{name: Quote(long + "b")})
		n.add(Arguments{name: Quote("a" + long)}, Arguments{name: Quote("b" + long)})
	}
}

// texts adds pairs that differ in the text of one argument.
func (n *nearPairs) texts(name string) {
	pairs := [][2]string{{"probe", "boper"}, {"prob\u00e9", "probe"}, {"prob\u00e9", "prob"}, {"probe\x00a", "probe\x00b"}}
	for _, p := range pairs {
		n.add(Arguments{name: Quote(p[0])}, Arguments{name: Quote(p[1])})
	}
	for _, length := range cutLengths {
		n.farBehind(name, length)
	}
}

// integers adds pairs that are equal as float64 or without the sign.
func (n *nearPairs) integers(name string) {
	p := n.properties[name]
	if p.Allows(1<<53) && p.Allows(1<<53+2) {
		n.add(Arguments{name: json.RawMessage("9007199254740992")}, Arguments{name: json.RawMessage("9007199254740993")})
	}
	if p.Allows(7) && p.Allows(-7) {
		n.add(Arguments{name: json.RawMessage("7")}, Arguments{name: json.RawMessage("-7")})
	}
}

// fractions adds pairs that differ only in the decimals.
func (n *nearPairs) fractions(name string) {
	p := n.properties[name]
	for _, v := range [][2]float64{{10.25, 10.75}, {0.25, 0.75}, {10.2501, 10.2504}} {
		if p.Allows(v[0]) && p.Allows(v[1]) {
			n.add(Arguments{name: fmt.Append(nil, v[0])}, Arguments{name: fmt.Append(nil, v[1])})
		}
	}
}

// items adds pairs of lists that differ in one item, or in the item that a text belongs to.
func (n *nearPairs) items(name string) {
	p := n.properties[name]
	if p.MinItems > 2 || p.MaxItems != nil && *p.MaxItems < 2 {
		return
	}
	for _, v := range [][2]json.RawMessage{{quoteAll("a", "b"), quoteAll("a", "c")}, {quoteAll("b", "a"), quoteAll("c", "a")}} {
		n.add(Arguments{name: v[0]}, Arguments{name: v[1]})
	}
	if p.MinItems > 1 {
		return
	}
	for _, joint := range []string{",", "", " ", "|"} {
		n.add(Arguments{name: quoteAll("a" + joint + "b")}, Arguments{name: quoteAll("a", "b")})
	}
}

// digits adds pairs in which a digit moves from an integer to a text.
func (n *nearPairs) digits(integer, text string) {
	if p := n.properties[integer]; !p.Allows(1) || !p.Allows(12) {
		return
	}
	whole := Arguments{integer: json.RawMessage("12"), text: Quote("probe")}
	n.add(whole, Arguments{integer: json.RawMessage("1"), text: Quote("2probe")})
	n.add(whole, Arguments{integer: json.RawMessage("2"), text: Quote("probe1")})
}

// letters adds pairs in which letters move from one text to the next.
func (n *nearPairs) letters(first, second string) {
	n.add(Arguments{first: Quote("probe"), second: Quote("sample")}, Arguments{first: Quote("sample"), second: Quote("probe")})
	for _, names := range [][2]string{{first, second}, {second, first}} {
		for _, joint := range joints(names[1]) {
			n.add(Arguments{names[0]: Quote("a" + joint + "b"), names[1]: Quote("c")}, Arguments{names[0]: Quote("a"), names[1]: Quote("b" + joint + "c")})
		}
	}
}

// maxMoved is the number of pairs that MovedParts returns.
const maxMoved = 24

// MovedParts returns pairs of the given arguments and those in which a part of a text moves to another
// text, with the separator beside it. A server may mean the same by both, as by a folder and a path in it.
func MovedParts(input, given json.RawMessage) (all [][2]json.RawMessage) {
	m := Members(given)
	for from := range InOrder(m) {
		for to := range InOrder(m) {
			for _, moved := range movedParts(m, from, to) {
				if next := Object(moved); len(all) < maxMoved && Fits(input, next) {
					all = append(all, [2]json.RawMessage{given, next})
				}
			}
		}
	}
	return all
}

// movedParts returns arguments in which the beginning of a text moves to the end of another, or the end
// to its beginning. The text is split at the first and at the last separator of each kind.
func movedParts(m Arguments, from, to string) (all []Arguments) {
	whole, is := Text(m[from])
	other, also := Text(m[to])
	if !is || !also || from == to {
		return nil
	}
	for _, joint := range strings.Split(separators, "") {
		first, last := strings.Index(whole, joint), strings.LastIndex(whole, joint)
		for _, at := range slices.Compact([]int{first, last}) {
			if at <= 0 || at == len(whole)-1 {
				continue
			}
			begin, end := whole[:at], whole[at+1:]
			all = append(all, With(With(m, from, Quote(end)), to, Quote(other+joint+begin)), With(With(m, from, Quote(begin)), to, Quote(end+joint+other)))
		}
	}
	return all
}

// maxShifts is the number of pairs that shifts adds.
const maxShifts = 8

// shifts adds pairs in which a character moves from one argument to another, adjacent names first.
// A digest that joins values does not distinguish them.
func (n *nearPairs) shifts() {
	names := n.named(func(s Schema) bool { return len(s.joinable()) > 0 })
	most := len(n.all) + maxShifts
	for distance := 1; distance < len(names); distance++ {
		for i := range len(names) - distance {
			for _, pair := range [][2]string{{names[i], names[i+distance]}, {names[i+distance], names[i]}} {
				if len(n.all) == most {
					return
				}
				n.shift(pair[0], pair[1])
			}
		}
	}
}

// shift adds a pair in which the first character of one argument moves to the end of another.
func (n *nearPairs) shift(to, from string) {
	one, two := n.properties[to], n.properties[from]
	for _, a := range one.joinable() {
		for _, b := range two.joinable() {
			if longer, shorter := one.scalar(a+b[:1]), two.scalar(b[1:]); longer != nil && shorter != nil {
				n.add(Arguments{to: one.scalar(a), from: two.scalar(b)}, Arguments{to: longer, from: shorter})
				return
			}
		}
	}
}

// joinable returns values of a string or integer for shifts, in the form in which a digest may join
// them.
func (s Schema) joinable() []string {
	all := []string{"12", "345", "probe"}
	for nth := range 4 {
		if text, ok := matching(s.Pattern, s.MinLength, nth); ok && s.Pattern != "" {
			all = append(all, text)
		}
	}
	return slices.DeleteFunc(all, func(text string) bool { return s.scalar(text) == nil })
}

// scalar returns the JSON of a string or integer if the schema allows it, or nil.
func (s Schema) scalar(text string) json.RawMessage {
	if s.Const != nil || len(s.Enum) > 0 {
		return nil
	}
	switch s.TypeOf() {
	case "integer":
		if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text && s.Allows(float64(n)) {
			return json.RawMessage(text)
		}
	case "string":
		fits := len(text) >= max(s.MinLength, 1) && (s.MaxLength == nil || len(text) <= *s.MaxLength)
		if s.Pattern != "" {
			pattern, err := regexp.Compile(s.Pattern)
			fits = fits && err == nil && pattern.MatchString(text)
		}
		if fits && s.Format == "" {
			return Quote(text)
		}
	}
	return nil
}

// NearArguments returns pairs of arguments that careless digests confuse. Pairs with an empty value
// or a free-form object come first. Then come texts that differ far from the start, behind NUL or
// in non-ASCII letters, and texts that move from one argument to the next. The last are lists that
// differ in one item, and numbers that are equal as float64, without the sign or rounded.
func NearArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	n.empties()
	n.free()
	texts := n.named(Schema.AnyText)
	integers := n.named(func(s Schema) bool { return s.TypeOf() == "integer" && len(s.Enum) == 0 })
	for _, name := range integers {
		n.integers(name)
	}
	for _, name := range n.named(func(s Schema) bool { return s.TypeOf() == "number" && len(s.Enum) == 0 }) {
		n.fractions(name)
	}
	for _, name := range n.named(func(s Schema) bool { return s.TypeOf() == "array" && ParseSchema(s.Items).AnyText() }) {
		n.items(name)
	}
	if len(texts) > 0 {
		for _, name := range integers {
			n.digits(name, texts[0])
		}
		n.texts(texts[0])
		for _, name := range texts[1:min(len(texts), maxTexts)] {
			n.farBehind(name, cutLengths[0])
			if most := n.properties[name].MaxLength; most != nil && *most > 2*cutLengths[0] {
				n.farBehind(name, cutLengths[1])
			}
		}
	}
	if len(texts) > 1 {
		n.letters(texts[0], texts[1])
	}
	n.shifts()
	return n.all
}

// ShiftedArguments returns pairs of arguments in which a character moves from one value to another.
func ShiftedArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	n.shifts()
	return n.all
}

// WithSlash returns arguments with a slash in the first of two texts, or nil.
func WithSlash(input, full json.RawMessage) json.RawMessage {
	n := newNearPairs(input, full)
	texts := n.named(Schema.AnyText)
	if len(texts) < 2 {
		return nil
	}
	return Object(With(With(n.given, texts[0], Quote("probe/sample")), texts[1], Quote("probe")))
}

// DoubtfulArguments returns pairs that few servers intend to treat as equal. These are texts that
// are equal only in a compatibility form (Unicode TR 15), and booleans that are absent or false.
func DoubtfulArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	for _, name := range SortedKeys(n.given) {
		p := n.properties[name]
		if p.TypeOf() == "boolean" && !slices.Contains(n.required, name) {
			n.add(Arguments{name: nil}, Arguments{name: p.empty()})
		}
		if p.AnyText() {
			n.add(Arguments{name: Quote("probe")}, Arguments{name: Quote("\uff50robe")})
			n.add(Arguments{name: Quote("fine probe")}, Arguments{name: Quote("\ufb01ne probe")})
		}
	}
	return n.all
}

// EqualArguments returns pairs that some servers intend to treat as equal. These are texts that
// differ in case, surrounding spaces or normal form (Unicode TR 15), and values that are absent or
// empty.
func EqualArguments(input, full json.RawMessage) [][2]json.RawMessage {
	n := newNearPairs(input, full)
	for _, name := range SortedKeys(n.given) {
		p := n.properties[name]
		if empty := p.empty(); empty != nil && p.TypeOf() != "boolean" && !slices.Contains(n.required, name) {
			n.add(Arguments{name: nil}, Arguments{name: empty})
		}
		if p.AnyText() {
			n.add(Arguments{name: Quote("probe")}, Arguments{name: Quote("PROBE")})
			n.add(Arguments{name: Quote("probe")}, Arguments{name: Quote(" probe ")})
			n.add(Arguments{name: Quote("prob\u00e9")}, Arguments{name: Quote("probe\u0301")})
		}
	}
	return n.all
}
