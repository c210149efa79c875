package review

import (
	"encoding/json"
	"math"
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
}

func parseSchema(raw json.RawMessage) schema {
	var s schema
	_ = json.Unmarshal(raw, &s) // a schema that cannot be read allows anything
	return s
}

// typeOf returns the first type of a schema that is not null.
func (s schema) typeOf() string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		for _, x := range t {
			if name, ok := x.(string); ok && name != "null" {
				return name
			}
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
			if v := samples(b, depth+1); string(v[0]) != "null" {
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

// text returns a string that the schema allows, if that does not depend on a
// pattern.
func (s schema) text(word string) string {
	if v, ok := formats[s.Format]; ok {
		word = v
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
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("1")
	}
	return raw
}

func (s schema) array(depth int) json.RawMessage {
	items := []json.RawMessage{}
	for range min(s.MinItems, 20) {
		items = append(items, samples(s.Items, depth+1)[0])
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
	for _, name := range s.Required {
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
	for k, x := range m {
		next[k] = x
	}
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

// otherArguments returns arguments that the schema allows and that differ in one
// member, nil if the schema allows no others.
func otherArguments(args, raw json.RawMessage) json.RawMessage {
	m, s := members(args), parseSchema(raw)
	for _, name := range sortedKeys(m) {
		property := parseSchema(s.Properties[name])
		if property.Const != nil || property.Pattern != "" {
			continue
		}
		for _, v := range alternatives(s.Properties[name], m[name]) {
			if string(v) != string(m[name]) {
				return object(with(m, name, v))
			}
		}
	}
	return nil
}

// alternatives returns values for a member in the place of one.
func alternatives(raw, given json.RawMessage) []json.RawMessage {
	s := parseSchema(raw)
	all := samples(raw, 0)
	var text string
	var number float64
	switch {
	case len(s.Enum) > 0 || len(s.OneOf) > 0:
	case json.Unmarshal(given, &text) == nil && formats[s.Format] == "":
		all = append(all, quote(s.text("sample")))
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

func (s schema) allows(v float64) bool {
	return (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum) &&
		(s.Above == nil || v > *s.Above) && (s.Below == nil || v < *s.Below)
}

// withText returns arguments with a text in the first member that takes any text
// of that length, nil if no member does.
func withText(args, raw json.RawMessage, text string) json.RawMessage {
	m, s := members(args), parseSchema(raw)
	for _, name := range sortedKeys(s.Properties) {
		p := parseSchema(s.Properties[name])
		given := p.typeOf() == "string" && len(p.Enum) == 0 && p.Const == nil && p.Pattern == "" && p.Format == ""
		if given && (p.MaxLength == nil || *p.MaxLength >= len(text)) && p.MinLength <= len(text) {
			return object(with(m, name, quote(text)))
		}
	}
	return nil
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
	for _, content := range samples(q.Params.Schema, 0) {
		if members(content) == nil {
			content = json.RawMessage("{}")
		}
		all = append(all, object(map[string]json.RawMessage{"action": quote("accept"), "content": content}))
	}
	return all
}
