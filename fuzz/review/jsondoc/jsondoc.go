// Package jsondoc reads JSON documents as they were received: members of objects, JSON Schema
// 2020-12, and values that a schema allows.
//
// It draws samples and other arguments without randomness: equal schemas give equal values.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Members returns the members of a JSON object, or nil if raw is not an object.
func Members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Object returns a JSON object with the given members, sorted by name.
func Object(m map[string]json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// Compact returns a value as package json writes it, without white space. Invalid JSON is unchanged.
func Compact(raw json.RawMessage) json.RawMessage {
	compact, err := json.Marshal(raw)
	if err != nil {
		return raw
	}
	return compact
}

// With returns a copy of an object with one member replaced.
func With(m map[string]json.RawMessage, name string, v json.RawMessage) map[string]json.RawMessage {
	next := map[string]json.RawMessage{}
	maps.Copy(next, m)
	next[name] = v
	return next
}

// WithMember returns an object with one member replaced.
func WithMember(raw json.RawMessage, name string, v json.RawMessage) json.RawMessage {
	return Object(With(Members(raw), name, v))
}

// Without returns a copy of an object without one member.
func Without(m map[string]json.RawMessage, name string) map[string]json.RawMessage {
	rest := maps.Clone(m)
	delete(rest, name)
	return rest
}

// WithTexts returns copies of an object with one string replaced in each, keyed by the path of the
// string.
func WithTexts(object map[string]json.RawMessage, text string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, raw := range object {
		if _, ok := Text(raw); ok {
			all[name] = Object(With(object, name, Quote(text)))
		}
		for inner, changed := range WithTexts(Members(raw), text) {
			all[name+"."+inner] = Object(With(object, name, changed))
		}
	}
	return all
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// InOrder yields the entries of a map in the order of their keys.
func InOrder[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, key := range SortedKeys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// Text returns the text of a JSON string. It returns false for another value.
func Text(raw json.RawMessage) (text string, ok bool) {
	var v *string
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return "", false
	}
	return *v, true
}

// At returns the member of an object at a path of names, or nil.
func At(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		raw = Members(raw)[name]
	}
	return raw
}

// Quote returns a string as JSON.
func Quote(token string) json.RawMessage {
	raw, err := json.Marshal(token)
	if err != nil {
		panic(err) // a string always encodes
	}
	return raw
}

// Contains reports whether values include one that is written like v.
func Contains(values []json.RawMessage, v json.RawMessage) bool {
	return slices.ContainsFunc(values, func(other json.RawMessage) bool { return bytes.Equal(other, v) })
}

// ordered returns an object with its members in the order of names.
func ordered(m map[string]json.RawMessage, names []string) json.RawMessage {
	members := make([]string, len(names))
	for i, name := range names {
		members[i] = string(Quote(name)) + ":" + string(m[name])
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// Reversed returns an object with its members in the reverse order of their names.
func Reversed(object json.RawMessage) json.RawMessage {
	m := Members(object)
	names := SortedKeys(m)
	slices.Reverse(names)
	return ordered(m, names)
}

// Merged merges two objects. A member of the first takes precedence.
func Merged(one, two json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	maps.Copy(all, Members(two))
	maps.Copy(all, Members(one))
	return Object(all)
}

// Same reports whether two objects have the same members, in any order.
func Same(one, two json.RawMessage) bool {
	return string(Object(Members(one))) == string(Object(Members(two)))
}

// ShareName reports whether two objects have a name in common.
func ShareName(one, two json.RawMessage) bool {
	for name := range Members(one) {
		if Members(two)[name] != nil {
			return true
		}
	}
	return false
}

// SameText reports whether two JSON values are written alike, or are equal strings with different
// escapes.
func SameText(one, two string) bool {
	a, ok := Text([]byte(one))
	b, also := Text([]byte(two))
	return one == two || ok && also && a == b
}

// quoteAll returns a JSON array of strings.
func quoteAll(texts ...string) json.RawMessage {
	raw, err := json.Marshal(texts)
	if err != nil {
		panic(err) // strings always encode
	}
	return raw
}

// Prefix splits bytes that begin with a JSON object into the object and the rest.
func Prefix(raw []byte) (object, rest []byte, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, nil, false
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	var v json.RawMessage
	if d.Decode(&v) != nil {
		return nil, nil, false
	}
	return v, raw[len(v):], true
}
