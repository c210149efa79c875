package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// typeNames are the types of JSON Schema 2020-12.
var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// schemaFault returns the first keyword of a schema that no validator can read, "" if
// there is none. References to elsewhere and patterns are left alone.
func schemaFault(raw json.RawMessage) string {
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return "it is not JSON"
	}
	return keywordFault(root, root, 0)
}

func keywordFault(v, root any, depth int) string {
	m, ok := v.(map[string]any)
	if _, boolean := v.(bool); !ok && !boolean {
		return "a schema is neither an object nor a boolean"
	}
	if issue := ownFault(m, root); issue != "" || depth > maxInline {
		return issue
	}
	for _, k := range sortedKeys(m) {
		var parts []any
		switch k {
		case "properties", "$defs", "patternProperties":
			named, ok := m[k].(map[string]any)
			if !ok {
				return k + " is not an object"
			}
			for _, name := range sortedKeys(named) {
				parts = append(parts, named[name])
			}
		case "anyOf", "oneOf", "allOf":
			if parts, ok = m[k].([]any); !ok {
				return k + " is not an array"
			}
		case "items", "additionalProperties", "not":
			if _, tuple := m[k].([]any); !tuple { // items of older dialects
				parts = []any{m[k]}
			}
		}
		for _, part := range parts {
			if issue := keywordFault(part, root, depth+1); issue != "" {
				return issue
			}
		}
	}
	return ""
}

// ownFault judges the keywords of a schema that hold no schemas.
func ownFault(m map[string]any, root any) string {
	types, several := m["type"].([]any)
	if !several && m["type"] != nil {
		types = []any{m["type"]}
	}
	for _, x := range types {
		if name, ok := x.(string); !ok || !slices.Contains(typeNames, name) {
			return fmt.Sprintf("the type %s is none of JSON Schema", short(fmt.Sprint(x), 40))
		}
	}
	if required, ok := m["required"]; ok {
		names, ok := required.([]any)
		if !ok || slices.ContainsFunc(names, func(x any) bool { _, text := x.(string); return !text }) {
			return "required is not an array of texts"
		}
	}
	if ref, ok := m["$ref"].(string); ok && strings.HasPrefix(ref, "#/") && pointed(root, ref) == nil {
		return "nothing stands at the reference " + short(ref, 60)
	}
	return ""
}

// misfit returns the reason why a schema does not allow a value; "" if it does, as far
// as types and required members tell.
func misfit(raw json.RawMessage, value any) string {
	s := parseSchema(raw)
	if types := s.types(); len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool { return isOf(name, value) }) {
		return fmt.Sprintf("%s is not of the type %s", short(fmt.Sprint(value), 40), strings.Join(types, " or "))
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Sprintf("the member %s is missing", short(name, 40))
			}
		}
		for _, name := range sortedKeys(s.Properties) {
			if member, ok := v[name]; ok {
				if issue := misfit(s.Properties[name], member); issue != "" {
					return fmt.Sprintf("%s: %s", short(name, 40), issue)
				}
			}
		}
	case []any:
		for _, x := range v {
			if issue := misfit(s.Items, x); issue != "" {
				return issue
			}
		}
	}
	return ""
}

// isOf reports whether a value is of a type of JSON Schema.
func isOf(name string, value any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

// formFault returns the reason why a client cannot show a form (client/elicitation), ""
// if it can.
func formFault(q Question) string {
	if q.Method != "elicitation/create" || q.Params.Mode != "" && q.Params.Mode != "form" {
		return ""
	}
	form := parseSchema(inline(q.Params.Schema))
	switch {
	case q.Params.Message == "":
		return "a form has no message"
	case form.typeOf() != "object" || form.Properties == nil:
		return "the schema of a form is not of an object with properties"
	}
	for _, name := range form.Required {
		if form.Properties[name] == nil {
			return fmt.Sprintf("a form requires %s, which it does not have", short(name, 40))
		}
	}
	for _, name := range sortedKeys(form.Properties) {
		field := parseSchema(form.Properties[name])
		kind := field.typeOf()
		items := parseSchema(field.Items).typeOf()
		switch {
		case kind == "object" || kind == "array" && (items == "object" || items == "array"):
			return fmt.Sprintf("the member %s of a form is nested", short(name, 40))
		case kind == "" && len(field.Enum)+len(field.OneOf)+len(field.AnyOf) == 0 && field.Const == nil:
			return fmt.Sprintf("the member %s of a form has no type", short(name, 40))
		}
	}
	return ""
}
