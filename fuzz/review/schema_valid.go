package review

import (
	"encoding/json"
	"fmt"

	jsonschema "sealab/internal/schema"
)

// maxSchema is the number of bytes of a schema that is judged: that takes time quadratic
// in the number of its parts.
const maxSchema = 256 << 10

// readSchema returns a function that judges values by a schema of the server. The error
// is the fault that every client refuses the schema for.
func readSchema(raw json.RawMessage) (validate func(any) error, err error) {
	var doc any
	if len(raw) > maxSchema || json.Unmarshal(raw, &doc) != nil { // a number beyond 64 bits
		return func(any) error { return nil }, nil
	}
	return jsonschema.Foreign(doc)
}

// misfit returns the reason why a schema does not allow a value; "" if it does, or cannot be
// judged.
func misfit(raw json.RawMessage, value any) string {
	validate, err := readSchema(raw)
	if err != nil {
		return ""
	}
	if err = validate(value); err != nil {
		return short(err.Error(), 160)
	}
	return ""
}

// schemaFault returns the fault of a tool's schemas as the server wrote them, "" if there
// is none.
func (o Offer) schemaFault() string {
	switch {
	case members(o.Input) == nil:
		return "inputSchema is not an object"
	case parseSchema(o.Input).typeOf() != "object":
		return "inputSchema does not have the type object"
	}
	if _, err := readSchema(o.raw); err != nil {
		return "inputSchema: " + short(err.Error(), 160)
	}
	if _, err := readSchema(o.Output); o.Output != nil && err != nil {
		return "outputSchema: " + short(err.Error(), 160)
	}
	return ""
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
