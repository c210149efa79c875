package jsondoc

import (
	"encoding/json"
	"math"

	jsonschema "sealab/internal/schema"
)

// A Schema is the part of JSON Schema 2020-12 that arguments and forms use.
type Schema struct {
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

// ParseSchema reads a schema. One that cannot be read allows anything.
func ParseSchema(raw json.RawMessage) Schema {
	var s Schema
	_ = json.Unmarshal(raw, &s) // a schema that cannot be read allows anything
	return s
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

// TypeOf returns the first type of a schema that is not null.
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

// anyText reports whether the values are texts of any characters.
func (s Schema) anyText() bool {
	return s.TypeOf() == "string" && s.Const == nil && len(s.Enum) == 0 && s.Format == "" && s.Pattern == ""
}

// Allows reports whether a number is within the bounds of the schema.
func (s Schema) Allows(v float64) bool {
	return (s.Multiple == nil || math.Mod(v, *s.Multiple) == 0) && (s.Minimum == nil || v >= *s.Minimum) && (s.Maximum == nil || v <= *s.Maximum) &&
		(s.Above == nil || v > *s.Above) && (s.Below == nil || v < *s.Below)
}

// maxSchema is the number of bytes of a schema that is judged: that takes time quadratic
// in the number of its parts.
const maxSchema = 256 << 10

// readSchema returns a function that judges values by a schema of the server, and its fault.
func readSchema(raw json.RawMessage, newest bool) (validate func(any) error, err error) {
	var doc any
	if len(raw) > maxSchema || json.Unmarshal(raw, &doc) != nil { // a number beyond 64 bits
		return func(any) error { return nil }, nil
	}
	return jsonschema.Foreign(doc, newest)
}

// SchemaFault returns the fault that every client refuses a schema for or, with newest, every
// client that takes one without $schema for JSON Schema 2020-12; nil if it has no fault.
func SchemaFault(raw json.RawMessage, newest bool) error {
	_, err := readSchema(raw, newest)
	return err
}

// Misfit returns the reason why a schema does not allow a value; "" if it does, or cannot be
// judged.
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
