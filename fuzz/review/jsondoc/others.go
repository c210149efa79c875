package jsondoc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// OtherArguments returns arguments that the schema allows and that differ in one member, or nil.
func OtherArguments(args, raw json.RawMessage) json.RawMessage {
	m, s := Members(args), ParseSchema(raw)
	for _, name := range SortedKeys(m) {
		property := ParseSchema(s.Properties[name])
		if property.Const != nil {
			continue
		}
		if property.TypeOf() == "object" {
			if nested := OtherArguments(m[name], s.Properties[name]); nested != nil {
				return Object(With(m, name, nested))
			}
		}
		for _, v := range alternatives(s.Properties[name], m[name]) {
			if !alike(v, m[name]) {
				return Object(With(m, name, v))
			}
		}
	}
	for _, name := range SortedKeys(s.Properties) {
		if v := Samples(s.Properties[name], 0)[0]; m != nil && m[name] == nil && string(v) != "null" {
			return Object(With(m, name, v)) // an optional argument
		}
	}
	return nil
}

// OtherContent returns the content of a form with one member changed, and the new value. It changes
// no boolean. It returns nil if no member has another value.
func OtherContent(content, form json.RawMessage) (other json.RawMessage, value string) {
	all := Members(content)
	properties := ParseSchema(form).Properties
	for _, name := range SortedKeys(all) {
		is := string(all[name])
		if is == "true" || is == "false" {
			continue
		}
		p := ParseSchema(properties[name])
		v := p.FarNumber()
		if v == nil {
			v = Members(OtherArguments(Object(map[string]json.RawMessage{name: all[name]}), form))[name]
		}
		if v != nil && string(v) != is {
			return Object(With(all, name, v)), strings.Trim(string(v), `"`)
		}
	}
	return nil, ""
}

// farNumbers are unusual numbers that can be recognized in a text.
var farNumbers = []float64{48151, 4815, 97}

// FarNumber returns the first of farNumbers that a numeric schema allows, or nil.
func (s Schema) FarNumber() json.RawMessage {
	kind := s.TypeOf()
	i := slices.IndexFunc(farNumbers, s.Allows)
	if kind != "integer" && kind != "number" || len(s.Enum) > 0 || i < 0 {
		return nil
	}
	return json.RawMessage(strconv.Itoa(int(farNumbers[i])))
}

// MaxFull is the depth of a full sample.
const MaxFull = 4

// FullSample returns a value with all members that a schema names and two items in each list.
func FullSample(raw json.RawMessage, depth int) json.RawMessage {
	s := ParseSchema(raw)
	one := Samples(raw, depth)[0]
	if s.Const != nil || len(s.Enum)+len(s.OneOf)+len(s.AnyOf) > 0 || depth == MaxFull {
		return one
	}
	switch s.TypeOf() {
	case "object":
		m := map[string]json.RawMessage{}
		for _, name := range SortedKeys(s.Properties) {
			if v := FullSample(s.Properties[name], depth+1); string(v) != "null" {
				m[name] = v
			}
		}
		return Object(m)
	case "array":
		items := []json.RawMessage{FullSample(s.Items, depth+1)}
		items = append(items, ChangedLeaves(s.Items, items[0], depth+1)...)
		items = items[:min(len(items), max(2, s.MinItems))]
		if s.MaxItems != nil {
			items = items[:min(len(items), max(0, *s.MaxItems))]
		}
		if v, err := json.Marshal(items); err == nil && len(items) >= s.MinItems {
			return v
		}
	}
	return one
}

// ChangedLeaves returns values that differ from given in one place: the end or all of a text, a
// number by one, or a boolean. The deepest and last places come first, because careless readers
// omit them.
func ChangedLeaves(raw, given json.RawMessage, depth int) []json.RawMessage {
	s := ParseSchema(raw)
	var text string
	var items []json.RawMessage
	var all, flat []json.RawMessage
	m := Members(given)
	switch {
	case s.Const != nil || depth > MaxFull:
	case m != nil:
		for _, name := range SortedKeys(m) {
			deep := m[name][0] == '{' || m[name][0] == '['
			for _, v := range ChangedLeaves(s.Properties[name], m[name], depth+1) {
				if next := Object(With(m, name, v)); deep {
					all = append(all, next)
				} else {
					flat = append(flat, next)
				}
			}
		}
	case json.Unmarshal(given, &items) == nil && items != nil:
		for i := range slices.Backward(items) {
			for _, v := range ChangedLeaves(s.Items, items[i], depth+1) {
				if next, err := json.Marshal(slices.Replace(slices.Clone(items), i, i+1, v)); err == nil {
					all = append(all, next)
					break
				}
			}
		}
	default:
		if json.Unmarshal(given, &text) == nil && s.Format == "" && s.Pattern == "" && len(s.Enum) == 0 && (s.MaxLength == nil || *s.MaxLength > len(text)) {
			flat = append(flat, Quote(text+"s"))
		}
		for _, v := range alternatives(raw, given) {
			if !alike(v, given) {
				flat = append(flat, v)
				break
			}
		}
	}
	return append(all, flat...)
}

// alternatives returns values that may replace given.
func alternatives(raw, given json.RawMessage) []json.RawMessage {
	s := ParseSchema(raw)
	all := Samples(raw, 0)
	var text string
	var number float64
	switch {
	case len(s.Enum) > 0:
	case len(s.OneOf)+len(s.AnyOf) > 0:
		for _, b := range slices.Concat(s.OneOf, s.AnyOf) {
			all = append(all, alternatives(branch(raw, b), given)...)
		}
		all = slices.DeleteFunc(all, func(v json.RawMessage) bool { return string(v) == "null" })
	case string(given) == "null" || s.TypeOf() == "null":
	case json.Unmarshal(given, &text) == nil && otherSamples[s.Format] != "":
		all = append(all, Quote(otherSamples[s.Format]))
	case json.Unmarshal(given, &text) == nil && formatSamples[s.Format] == "":
		all = append(all, Quote(s.text("sample")))
		for nth := range 4 {
			if v, ok := matching(s.Pattern, s.MinLength, nth); ok && s.Pattern != "" {
				all = append(all, Quote(v))
			}
		}
	case s.TypeOf() == "array":
		var items []json.RawMessage
		_ = json.Unmarshal(given, &items)
		for _, v := range alternatives(s.Items, json.RawMessage("null")) {
			if next, err := json.Marshal(append(slices.Clone(items), v)); err == nil && !Contains(items, v) {
				all = append(all, next)
			}
		}
	case json.Unmarshal(given, &number) == nil:
		for _, v := range []float64{number + 1, number - 1} {
			if s.Allows(v) {
				next, _ := json.Marshal(v)
				all = append(all, next)
			}
		}
	}
	return all
}

// Room returns the length of the longest text that [WithText] can place, at most most.
func Room(raw json.RawMessage, most int) int {
	room := 0
	for _, property := range ParseSchema(raw).Properties {
		switch p := ParseSchema(property); {
		case p.Properties != nil:
			room = max(room, Room(property, most))
		case p.AnyText() && p.MaxLength != nil:
			room = max(room, min(*p.MaxLength, most))
		case p.AnyText():
			return most
		}
	}
	return room
}

// alike reports whether two values are equal except for case, however they are written. A server may
// intend to treat these as equal.
func alike(one, two json.RawMessage) bool {
	a, ok := Text(one)
	b, also := Text(two)
	if ok && also {
		return strings.EqualFold(a, b)
	}
	return strings.EqualFold(string(Compact(one)), string(Compact(two)))
}

// WithText returns arguments with a text in the first member that accepts any text of that
// length, or nil.
func WithText(args, raw json.RawMessage, text string) json.RawMessage {
	m, s := Members(args), ParseSchema(raw)
	for _, name := range SortedKeys(s.Properties) {
		p := ParseSchema(s.Properties[name])
		if p.AnyText() && (p.MaxLength == nil || *p.MaxLength >= len(text)) && p.MinLength <= len(text) {
			return Object(With(m, name, Quote(text)))
		}
	}
	for _, name := range SortedKeys(s.Properties) {
		if p := ParseSchema(s.Properties[name]); p.Properties != nil && m[name] != nil {
			if nested := WithText(m[name], s.Properties[name], text); nested != nil {
				return Object(With(m, name, nested))
			}
		}
	}
	return nil
}

// Series returns n arguments that differ from each other in one member: a text, a match of a
// pattern, or an integer. They also differ from the values of other functions. It returns nil if no
// member has so many values.
func Series(input, given json.RawMessage, n int) []json.RawMessage {
	m, properties := Members(given), ParseSchema(input).Properties
	for _, name := range SortedKeys(m) {
		p := ParseSchema(properties[name])
		var all []json.RawMessage
		for i := 4; i < 12*n && len(all) < n; i++ {
			v := p.nth(m[name], i)
			if next := Object(With(m, name, v)); v != nil && !Contains(all, next) {
				all = append(all, next)
			}
		}
		if len(all) == n {
			return all
		}
	}
	return nil
}

// nth returns the n-th of many values that may replace given, or nil if the schema does not allow
// so many.
func (s Schema) nth(given json.RawMessage, n int) json.RawMessage {
	var text string
	var number float64
	switch {
	case len(s.Enum) > 0 || len(s.OneOf)+len(s.AnyOf) > 0:
	case json.Unmarshal(given, &text) == nil && formatSamples[s.Format] == "" && s.Pattern != "":
		if v, ok := matching(s.Pattern, s.MinLength, n); ok {
			return Quote(v)
		}
	case json.Unmarshal(given, &text) == nil && formatSamples[s.Format] == "":
		return Quote(s.text(fmt.Sprintf("%dseries", n)))
	case s.TypeOf() == "integer" && json.Unmarshal(given, &number) == nil:
		for _, v := range []float64{number + float64(n), number - float64(n)} {
			if s.Allows(v) {
				return json.RawMessage(strconv.Itoa(int(v)))
			}
		}
	}
	return nil
}

// OtherEnd returns a text with another last character. A digit becomes another digit. The text must not
// be empty.
func OtherEnd(text string) string {
	start, last := text[:len(text)-1], text[len(text)-1]
	switch {
	case last >= '0' && last <= '9':
		return start + string('0'+(last-'0'+1)%10)
	case last == 'x':
		return start + "y"
	default:
		return start + "x"
	}
}
