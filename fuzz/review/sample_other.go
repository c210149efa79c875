package review

import (
	"encoding/json"
	"slices"
)

// otherArguments returns arguments that the schema allows and that differ in one
// member, nil if the schema allows no others.
func otherArguments(args, raw json.RawMessage) json.RawMessage {
	m, s := members(args), parseSchema(raw)
	for _, name := range sortedKeys(m) {
		property := parseSchema(s.Properties[name])
		if property.Const != nil {
			continue
		}
		if property.typeOf() == "object" {
			if nested := otherArguments(m[name], s.Properties[name]); nested != nil {
				return object(with(m, name, nested))
			}
		}
		for _, v := range alternatives(s.Properties[name], m[name]) {
			if string(v) != string(m[name]) {
				return object(with(m, name, v))
			}
		}
	}
	for _, name := range sortedKeys(s.Properties) {
		if v := samples(s.Properties[name], 0)[0]; m != nil && m[name] == nil && string(v) != "null" {
			return object(with(m, name, v)) // an optional argument
		}
	}
	return nil
}

// maxFull is how deep a full sample goes.
const maxFull = 4

// fullSample returns a value with all members that a schema names, and two values in
// each list.
func fullSample(raw json.RawMessage, depth int) json.RawMessage {
	s := parseSchema(raw)
	one := samples(raw, depth)[0]
	if s.Const != nil || len(s.Enum)+len(s.OneOf)+len(s.AnyOf) > 0 || depth == maxFull {
		return one
	}
	switch s.typeOf() {
	case "object":
		m := map[string]json.RawMessage{}
		for _, name := range sortedKeys(s.Properties) {
			if v := fullSample(s.Properties[name], depth+1); string(v) != "null" {
				m[name] = v
			}
		}
		return object(m)
	case "array":
		items := []json.RawMessage{fullSample(s.Items, depth+1)}
		items = append(items, changedLeaves(s.Items, items[0], depth+1)...)
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

// changedLeaves returns values that differ from one in a single place: a text by its end
// or as a whole, a number by one, a truth by its opposite. The places that are deepest
// and last come first, since careless readers leave them out.
func changedLeaves(raw, given json.RawMessage, depth int) []json.RawMessage {
	s := parseSchema(raw)
	var text string
	var items []json.RawMessage
	var all, flat []json.RawMessage
	m := members(given)
	switch {
	case s.Const != nil || depth > maxFull:
	case m != nil:
		for _, name := range sortedKeys(m) {
			deep := m[name][0] == '{' || m[name][0] == '['
			for _, v := range changedLeaves(s.Properties[name], m[name], depth+1) {
				if next := object(with(m, name, v)); deep {
					all = append(all, next)
				} else {
					flat = append(flat, next)
				}
			}
		}
	case json.Unmarshal(given, &items) == nil && items != nil:
		for i := range slices.Backward(items) {
			for _, v := range changedLeaves(s.Items, items[i], depth+1) {
				if next, err := json.Marshal(slices.Replace(slices.Clone(items), i, i+1, v)); err == nil {
					all = append(all, next)
					break
				}
			}
		}
	default:
		if json.Unmarshal(given, &text) == nil && s.Format == "" && s.Pattern == "" && len(s.Enum) == 0 && (s.MaxLength == nil || *s.MaxLength > len(text)) {
			flat = append(flat, quote(text+"s"))
		}
		for _, v := range alternatives(raw, given) {
			if string(v) != string(given) {
				flat = append(flat, v)
				break
			}
		}
	}
	return append(all, flat...)
}

// alternatives returns values for a member in the place of one.
func alternatives(raw, given json.RawMessage) []json.RawMessage {
	s := parseSchema(raw)
	all := samples(raw, 0)
	var text string
	var number float64
	switch {
	case len(s.Enum) > 0:
	case len(s.OneOf)+len(s.AnyOf) > 0:
		for _, b := range slices.Concat(s.OneOf, s.AnyOf) {
			all = append(all, alternatives(branch(raw, b), given)...)
		}
		all = slices.DeleteFunc(all, func(v json.RawMessage) bool { return string(v) == "null" })
	case string(given) == "null" || s.typeOf() == "null":
	case json.Unmarshal(given, &text) == nil && others[s.Format] != "":
		all = append(all, quote(others[s.Format]))
	case json.Unmarshal(given, &text) == nil && formats[s.Format] == "":
		all = append(all, quote(s.text("sample")))
		for nth := range 4 {
			if v, ok := matching(s.Pattern, s.MinLength, nth); ok && s.Pattern != "" {
				all = append(all, quote(v))
			}
		}
	case s.typeOf() == "array":
		var items []json.RawMessage
		_ = json.Unmarshal(given, &items)
		for _, v := range alternatives(s.Items, json.RawMessage("null")) {
			present := slices.ContainsFunc(items, func(x json.RawMessage) bool { return string(x) == string(v) })
			if next, err := json.Marshal(append(slices.Clone(items), v)); err == nil && !present {
				all = append(all, next)
			}
		}
	case json.Unmarshal(given, &number) == nil:
		for _, v := range []float64{number + 1, number - 1} {
			if s.allows(v) {
				next, _ := json.Marshal(v)
				all = append(all, next)
			}
		}
	}
	return all
}

// withText returns arguments with a text in the first member that takes any text
// of that length, nil if no member does.
func withText(args, raw json.RawMessage, text string) json.RawMessage {
	m, s := members(args), parseSchema(raw)
	for _, name := range sortedKeys(s.Properties) {
		p := parseSchema(s.Properties[name])
		if p.anyText() && (p.MaxLength == nil || *p.MaxLength >= len(text)) && p.MinLength <= len(text) {
			return object(with(m, name, quote(text)))
		}
	}
	for _, name := range sortedKeys(s.Properties) {
		if p := parseSchema(s.Properties[name]); p.Properties != nil && m[name] != nil {
			if nested := withText(m[name], s.Properties[name], text); nested != nil {
				return object(with(m, name, nested))
			}
		}
	}
	return nil
}
