package jsondoc

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strings"

	jsonschema "sealab/internal/schema"
)

// A Schema is the part of JSON Schema 2020-12 that arguments and forms use.
type Schema struct {
	Raw        json.RawMessage            `json:"-"` // as it was read
	Type       any                        `json:"type"`
	Title      string                     `json:"title"`
	About      string                     `json:"description"`
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

// ParseSchema parses a schema. An unreadable schema allows any value.
func ParseSchema(raw json.RawMessage) Schema {
	s := Schema{Raw: raw}
	_ = json.Unmarshal(raw, &s)                           // an unreadable schema stays empty
	s.Pattern = strings.ReplaceAll(s.Pattern, `\Z`, `\z`) // the end of a text in Python
	return s
}

// Fields yields the members that a schema names, with their schemas, in the order of their names.
func Fields(raw json.RawMessage) iter.Seq2[string, Schema] {
	return func(yield func(string, Schema) bool) {
		for name, property := range InOrder(ParseSchema(raw).Properties) {
			if !yield(name, ParseSchema(property)) {
				return
			}
		}
	}
}

// Types returns the types that a schema names.
func (s Schema) Types() []string {
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

// TypeOf returns the first type of a schema other than null.
func (s Schema) TypeOf() string {
	for _, name := range s.Types() {
		if _, several := s.Type.([]any); name != "null" || !several {
			return name
		}
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}

// Listed reports whether the schema lists the values that it allows.
func (s Schema) Listed() bool { return s.Const != nil || len(s.Enum) > 0 || len(s.OneOf) > 0 }

// Values returns the values that the schema lists.
func (s Schema) Values() []json.RawMessage {
	all := slices.Clone(s.Enum)
	for _, one := range s.OneOf {
		if c := ParseSchema(one).Const; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// AnyText reports whether the schema allows any string, apart from its length.
func (s Schema) AnyText() bool {
	return s.TypeOf() == "string" && s.Const == nil && len(s.Enum) == 0 && s.Format == "" && s.Pattern == ""
}

// AllowsText reports whether a schema of texts that it does not list allows a text.
func AllowsText(raw, value json.RawMessage) bool {
	s := ParseSchema(raw)
	text, ok := Text(value)
	return s.TypeOf() == "string" && !s.Listed() && ok && Misfit(raw, text) == ""
}

// Allows reports whether a number is within the bounds of the schema.
func (s Schema) Allows(v float64) bool {
	return (s.Multiple == nil || math.Mod(v, *s.Multiple) == 0) && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum) &&
		(s.Above == nil || v > *s.Above) && (s.Below == nil || v < *s.Below)
}

// maxSchema is the size of the largest schema that is compiled, in bytes. Compiling takes time
// quadratic in the number of its parts.
const maxSchema = 256 << 10

// readSchema returns a function that validates values against a schema, or the fault of the schema.
func readSchema(raw json.RawMessage, newest bool) (validate func(any) error, err error) {
	var doc any
	if len(raw) > maxSchema || json.Unmarshal(raw, &doc) != nil { // a number may exceed 64 bits
		return func(any) error { return nil }, nil
	}
	return jsonschema.Foreign(doc, newest)
}

// SchemaFault returns the fault for which every client refuses a schema, or nil. If newest is set,
// it also returns faults under JSON Schema 2020-12, which some clients assume if $schema is absent.
func SchemaFault(raw json.RawMessage, newest bool) error {
	_, err := readSchema(raw, newest)
	return err
}

// Misfit returns the reason why a schema does not allow a value. It returns "" if the schema allows
// the value or cannot be read.
func Misfit(raw json.RawMessage, value any) string {
	validate, err := readSchema(raw, false)
	if err != nil {
		return ""
	}
	if err = validate(value); err != nil {
		return err.Error()
	}
	return ""
}

// Fits reports whether a schema allows a value in JSON, or cannot be read.
func Fits(schema, value json.RawMessage) bool {
	var v any
	_ = json.Unmarshal(value, &v) // no JSON: null
	return Misfit(schema, v) == ""
}
