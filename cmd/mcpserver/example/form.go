package example

import "github.com/modelcontextprotocol/go-sdk/mcp"

// A Field is the single field of a form, with its JSON schema. Forms are the input
// requests of multi-round-trip requests (Model Context Protocol 2026-07-28,
// basic/patterns/mrtr). Their answers come from the client and are not protected:
// if a later round relies on a fact, keep it in the requestState.
type Field struct {
	Name   string
	Schema map[string]any
}

// Text is a field for one line of text.
func Text(name string) Field { return Field{name, map[string]any{"type": "string"}} }

// Number is a field for a number.
func Number(name string) Field { return Field{name, map[string]any{"type": "number"}} }

// Yes is a field for a yes or no.
func Yes(name string) Field { return Field{name, map[string]any{"type": "boolean"}} }

// OneOf is a field for one of several texts.
func OneOf(name string, choices ...string) Field {
	return Field{name, map[string]any{"type": "string", "enum": choices}}
}

// Form asks the user to fill in a form of one required field.
func Form(message string, f Field) *mcp.ElicitParams {
	return &mcp.ElicitParams{
		Mode:    "form",
		Message: message,
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{f.Name: f.Schema},
			"required":   []string{f.Name},
		},
	}
}

// Answer returns the value of a field in the form named key. ok reports whether
// the user accepted the form and the value has type T.
func Answer[T any](answers mcp.InputResponseMap, key, field string) (value T, ok bool) {
	form, ok := answers[key].(*mcp.ElicitResult)
	if !ok || form == nil || form.Action != "accept" {
		return value, false
	}
	value, ok = form.Content[field].(T)
	return value, ok
}
