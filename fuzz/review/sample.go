package review

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// A schema is the part of JSON Schema 2020-12 that arguments and forms use.
type schema struct {
	Type       any                        `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	Default    json.RawMessage            `json:"default"`
	Const      json.RawMessage            `json:"const"`
	Enum       []json.RawMessage          `json:"enum"`
	Examples   []json.RawMessage          `json:"examples"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	Format     string                     `json:"format"`
	Pattern    string                     `json:"pattern"`
	MinLength  int                        `json:"minLength"`
	MaxLength  *int                       `json:"maxLength"`
	Minimum    *float64                   `json:"minimum"`
	Maximum    *float64                   `json:"maximum"`
	Above      *float64                   `json:"exclusiveMinimum"`
	Below      *float64                   `json:"exclusiveMaximum"`
	MinItems   int                        `json:"minItems"`
	MaxItems   *int                       `json:"maxItems"`
	Unique     bool                       `json:"uniqueItems"`
	Multiple   *float64                   `json:"multipleOf"`
	MinMembers int                        `json:"minProperties"`
	More       json.RawMessage            `json:"additionalProperties"`
}

func parseSchema(raw json.RawMessage) schema {
	var s schema
	_ = json.Unmarshal(raw, &s) // a schema that cannot be read allows anything
	return s
}

// types returns the types that a schema names.
func (s schema) types() []string {
	var all []string
	switch t := s.Type.(type) {
	case string:
		all = append(all, t)
	case []any:
		for _, x := range t {
			if name, ok := x.(string); ok {
				all = append(all, name)
			}
		}
	}
	return all
}

// typeOf returns the first type of a schema that is not null.
func (s schema) typeOf() string {
	for _, name := range s.types() {
		if _, several := s.Type.([]any); name != "null" || !several {
			return name
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}

// samples returns values that a schema allows, the likeliest first: more than
// one if it lists its members or is a boolean. Optional members are left out.
func samples(raw json.RawMessage, depth int) []json.RawMessage {
	s := parseSchema(raw)
	switch {
	case s.Const != nil:
		return []json.RawMessage{s.Const}
	case len(s.Enum) > 0:
		return s.Enum
	case s.Default != nil && string(s.Default) != "null" && s.typeOf() != "boolean":
		return []json.RawMessage{s.Default}
	case len(s.Examples) > 0:
		return s.Examples[:1]
	case depth > 8:
		return []json.RawMessage{json.RawMessage("null")}
	}
	for _, branches := range [][]json.RawMessage{s.OneOf, s.AnyOf} {
		var all []json.RawMessage
		for _, b := range branches {
			if v := samples(branch(raw, b), depth+1); string(v[0]) != "null" {
				all = append(all, v[0])
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return s.byType(depth)
}

func (s schema) byType(depth int) []json.RawMessage {
	switch s.typeOf() {
	case "string":
		return []json.RawMessage{quote(s.text("probe"))}
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
		return []json.RawMessage{quote("probe")}
	}
}

// formats are values of the formats of strings.
var formats = map[string]string{
	"email": "probe@example.com", "uri": "https://example.com/probe", "url": "https://example.com/probe",
	"date": "2026-01-02", "time": "03:04:05Z", "date-time": "2026-01-02T03:04:05Z",
	"uuid": "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
}

// others are other values of formats.
var others = map[string]string{
	"email": "sample@example.com", "uri": "https://example.com/sample", "url": "https://example.com/sample",
	"date": "2026-01-03", "time": "03:04:06Z", "date-time": "2026-01-03T03:04:05Z",
	"uuid": "6ba7b811-9dad-41d1-80b4-00c04fd430c8", "hostname": "www.example.com", "ipv4": "192.0.2.2", "ipv6": "2001:db8::2",
}

// text returns a string that the schema allows. Of a pattern a short match is
// tried.
func (s schema) text(word string) string {
	if v, ok := formats[s.Format]; ok {
		word = v
	}
	if s.Pattern != "" {
		if v, ok := matching(s.Pattern, s.MinLength, len(word)%2); ok && (s.MaxLength == nil || len(v) <= *s.MaxLength) {
			return v
		}
	}
	if n := s.MinLength - len(word); n > 0 {
		word += strings.Repeat("x", n)
	}
	if s.MaxLength != nil && len(word) > *s.MaxLength && *s.MaxLength >= 0 {
		word = word[:*s.MaxLength]
	}
	return word
}

func (s schema) number() json.RawMessage {
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
	if s.typeOf() == "integer" {
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

func (s schema) array(depth int) json.RawMessage {
	items := []json.RawMessage{}
	choice := samples(s.Items, depth+1)
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

// objects returns objects of the required members; one for each value of the
// first member that has several.
func (s schema) objects(depth int) []json.RawMessage {
	base := map[string]json.RawMessage{}
	various := ""
	wanted := slices.Clone(s.Required)
	for _, name := range sortedKeys(s.Properties) {
		if len(wanted) < s.MinMembers && !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		base[name] = samples(s.Properties[name], depth+1)[0]
		if various == "" && len(samples(s.Properties[name], depth+1)) > 1 {
			various = name
		}
	}
	all := []json.RawMessage{object(base)}
	if various != "" {
		for _, v := range samples(s.Properties[various], depth+1)[1:] {
			all = append(all, object(with(base, various, v)))
		}
	}
	return all
}

// with returns a copy of an object with one member replaced.
func with(m map[string]json.RawMessage, name string, v json.RawMessage) map[string]json.RawMessage {
	next := map[string]json.RawMessage{}
	maps.Copy(next, m)
	next[name] = v
	return next
}

func object(m map[string]json.RawMessage) json.RawMessage {
	raw, err := json.Marshal(m)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// members returns the members of a JSON object, nil if raw is not an object.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// anyText reports whether the values are texts of any characters.
func (s schema) anyText() bool {
	return s.typeOf() == "string" && s.Const == nil && len(s.Enum) == 0 && s.Format == "" && s.Pattern == ""
}

func (s schema) allows(v float64) bool {
	return (s.Multiple == nil || math.Mod(v, *s.Multiple) == 0) && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum) &&
		(s.Above == nil || v > *s.Above) && (s.Below == nil || v < *s.Below)
}

// answersTo returns answers to the questions of a round, the likeliest first.
func answersTo(questions map[string]Question) []json.RawMessage {
	sets := []map[string]json.RawMessage{{}}
	for _, key := range sortedKeys(questions) {
		var next []map[string]json.RawMessage
		for _, set := range sets {
			for _, answer := range questions[key].answers() {
				if len(next) < maxAnswers {
					next = append(next, with(set, key, answer))
				}
			}
		}
		sets = next
	}
	var all []json.RawMessage
	for _, set := range sets {
		all = append(all, object(set))
	}
	return all
}

// maxAnswers is the number of combinations of answers that a round is tried with.
const maxAnswers = 6

// answers returns acceptances of a question. No URL is opened.
func (q Question) answers() []json.RawMessage {
	switch {
	case q.Method == "sampling/createMessage":
		return []json.RawMessage{json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"probe"},"model":"probe","stopReason":"endTurn"}`)}
	case q.Method == "roots/list":
		return []json.RawMessage{json.RawMessage(`{"roots":[]}`)}
	case q.Params.Mode == "url":
		return []json.RawMessage{json.RawMessage(`{"action":"accept"}`)}
	}
	var all []json.RawMessage
	for _, content := range samples(inline(q.Params.Schema), 0) {
		if members(content) == nil {
			content = json.RawMessage("{}")
		}
		all = append(all, object(map[string]json.RawMessage{"action": quote("accept"), "content": content}))
	}
	return all
}
