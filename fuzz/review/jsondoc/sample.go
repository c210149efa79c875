package jsondoc

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// Samples returns values that a schema allows, the most likely first. It returns several values for
// an enum, a boolean or alternatives. Optional members are omitted.
func Samples(raw json.RawMessage, depth int) []json.RawMessage {
	s := ParseSchema(raw)
	switch {
	case s.Const != nil:
		return []json.RawMessage{s.Const}
	case len(s.Enum) > 0:
		return s.Enum
	case s.Default != nil && string(s.Default) != "null" && s.TypeOf() != "boolean":
		return []json.RawMessage{s.Default}
	case len(s.Examples) > 0:
		return s.Examples[:1]
	case depth > 8:
		return []json.RawMessage{json.RawMessage("null")}
	}
	for _, branches := range [][]json.RawMessage{s.OneOf, s.AnyOf} {
		var all []json.RawMessage
		for _, b := range branches {
			if v := Samples(branch(raw, b), depth+1); string(v[0]) != "null" {
				all = append(all, v[0])
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return s.byType(depth)
}

func (s Schema) byType(depth int) []json.RawMessage {
	switch s.TypeOf() {
	case "string":
		return []json.RawMessage{Quote(s.text("probe"))}
	case "integer", "number":
		return []json.RawMessage{s.number()}
	case "boolean":
		return []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	case "array":
		return []json.RawMessage{s.array(depth)}
	case "object":
		return s.objects(depth)
	case "null":
		return []json.RawMessage{json.RawMessage("null")}
	default:
		return []json.RawMessage{Quote("probe")}
	}
}

// formatSamples maps string formats to sample values.
var formatSamples = map[string]string{
	"email": "probe@example.com", "uri": "https://example.com/probe", "url": "https://example.com/probe",
	"date": "2026-01-02", "time": "03:04:05Z", "date-time": "2026-01-02T03:04:05Z",
	"uuid": "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
}

// otherSamples maps string formats to different sample values.
var otherSamples = map[string]string{
	"email": "sample@example.com", "uri": "https://example.com/sample", "url": "https://example.com/sample",
	"date": "2026-01-03", "time": "03:04:06Z", "date-time": "2026-01-03T03:04:05Z",
	"uuid": "6ba7b811-9dad-41d1-80b4-00c04fd430c8", "hostname": "www.example.com", "ipv4": "192.0.2.2", "ipv6": "2001:db8::2",
}

// longestText is the longest padding for minLength, in bytes.
const longestText = 64 << 10

// text returns a string that the schema allows, unless that needs more than longestText bytes or a
// long match of a pattern.
func (s Schema) text(word string) string {
	if v, ok := formatSamples[s.Format]; ok {
		word = v
	}
	if s.Pattern != "" {
		if v, ok := matching(s.Pattern, s.MinLength, len(word)%2); ok && (s.MaxLength == nil || len(v) <= *s.MaxLength) {
			return v
		}
	}
	if n := min(s.MinLength, longestText) - len(word); n > 0 {
		word += strings.Repeat("x", n)
	}
	if s.MaxLength != nil && len(word) > *s.MaxLength && *s.MaxLength >= 0 {
		word = word[:*s.MaxLength]
	}
	return word
}

func (s Schema) number() json.RawMessage {
	v := 1.0
	raise := func(to float64) { v = math.Max(v, to) }
	lower := func(to float64) { v = math.Min(v, to) }
	if s.Minimum != nil {
		raise(*s.Minimum)
	}
	if s.Above != nil {
		raise(*s.Above + 1)
	}
	if s.Maximum != nil {
		lower(*s.Maximum)
	}
	if s.Below != nil {
		lower(*s.Below - 1)
	}
	if s.TypeOf() == "integer" {
		v = math.Ceil(v)
	}
	if s.Multiple != nil && *s.Multiple > 0 {
		v = math.Ceil(v / *s.Multiple) * *s.Multiple
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("1")
	}
	return raw
}

func (s Schema) array(depth int) json.RawMessage {
	items := []json.RawMessage{}
	choice := Samples(s.Items, depth+1)
	if s.Unique {
		choice = append(choice, alternatives(s.Items, choice[0])...)
	}
	for i := range min(s.MinItems, 20) {
		if !s.Unique {
			i = 0
		}
		items = append(items, choice[i%len(choice)])
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return json.RawMessage("[]")
	}
	return raw
}

// objects returns objects with the required members. It returns one for each value of the first
// member that has several.
func (s Schema) objects(depth int) []json.RawMessage {
	base := map[string]json.RawMessage{}
	various := ""
	wanted := slices.Clone(s.Required)
	for _, name := range SortedKeys(s.Properties) {
		if len(wanted) < s.MinMembers && !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		base[name] = Samples(s.Properties[name], depth+1)[0]
		if various == "" && len(Samples(s.Properties[name], depth+1)) > 1 {
			various = name
		}
	}
	all := []json.RawMessage{Object(base)}
	if various != "" {
		for _, v := range Samples(s.Properties[various], depth+1)[1:] {
			all = append(all, Object(With(base, various, v)))
		}
	}
	return all
}
