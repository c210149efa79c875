package client

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// An Offer is a tool, prompt or resource of a server.
type Offer struct {
	Name        string          `json:"name"`
	URI         string          `json:"uri,omitempty"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema,omitempty"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations struct {
		ReadOnly    *bool `json:"readOnlyHint,omitempty"`
		Destructive *bool `json:"destructiveHint,omitempty"`
	} `json:"annotations,omitzero"`
	Execution struct {
		Task string `json:"taskSupport,omitempty"`
	} `json:"execution,omitzero"`
	Arguments []struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	} `json:"arguments,omitempty"`

	Raw json.RawMessage `json:"-"` // inputSchema as the server sent it
}

// IsReadOnly reports whether a tool claims to be read-only and its name does not suggest otherwise.
func (o Offer) IsReadOnly() bool {
	return o.Annotations.ReadOnly != nil && *o.Annotations.ReadOnly && (o.NamesReading() || !Mentions(o.Name, Changing))
}

// readingName matches names that begin with a verb of reading, such as list_orders.
var readingName = regexp.MustCompile(`^(?:list|get|show|read|find|search|view|count|describe|my|fetch|retrieve|lookup|query)(?:[_.-]|[A-Z])`)

// NamesReading reports whether the name of a tool begins with a verb of reading.
func (o Offer) NamesReading() bool { return readingName.MatchString(o.Name) }

// nameParts matches the places between the words of a name.
var nameParts = regexp.MustCompile(`[_.-]+|([a-z0-9])([A-Z])`)

// NameWords returns the words of a name, with a space between two.
func NameWords(name string) string { return nameParts.ReplaceAllString(name, "$1 $2") }

// About returns the name of an offer, split into words, and its description.
func (o Offer) About() string {
	return NameWords(o.Name) + ": " + o.Description
}

// IsDestructive reports whether a tool claims to be destructive.
func (o Offer) IsDestructive() bool {
	return o.Annotations.Destructive != nil && *o.Annotations.Destructive
}

// Changing are parts of names of tools that have effects.
var Changing = []string{"delete", "remove", "send", "pay", "buy", "drop", "write", "deploy", "create", "update", "set_", "transfer",
	"purchase", "order", "book", "reset", "publish", "merge", "cancel", "approve", "submit", "move", "add_", "edit", "refund", "release", "destroy",
	"revoke", "grant", "wipe", "archive", "upload", "post",
	"migrate", "install", "restart", "upgrade", "checkout", "charge", "reserve", "schedule", "register", "sign", "start", "process"}

// Mentions reports whether a text contains one of words, in any case. The words are in lower case.
func Mentions(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// InputSchema returns the schema of the arguments. The arguments of prompts are strings.
func (o Offer) InputSchema() json.RawMessage {
	if len(o.Arguments) == 0 {
		return o.Input
	}
	properties := map[string]json.RawMessage{}
	for _, a := range o.Arguments {
		properties[a.Name] = json.RawMessage(`{"type":"string"}`)
	}
	return jsondoc.Object(map[string]json.RawMessage{"type": jsondoc.Quote("object"), "properties": jsondoc.Object(properties)})
}

// Allows reports whether the schema, as the server sent it, allows arguments.
func (o Offer) Allows(arguments json.RawMessage) bool {
	schema := o.Raw
	if schema == nil {
		schema = o.Input
	}
	return jsondoc.Fits(schema, arguments)
}

// namePart matches the parts of names that tell two names of one tool apart.
var namePart = regexp.MustCompile(`(?i)(\b|_)(old|new|legacy|deprecated|v\d+)(\b|_)|[^\pL\pN]`)

// AreTwins reports whether two tools are, by their texts, one tool under two names: the names differ in case,
// separators or a version, or the tools take the same arguments and one has the text of the other or says that
// it is another name.
func AreTwins(one, two Offer) bool {
	bare := func(o Offer) string { return strings.ToLower(namePart.ReplaceAllString(o.Name, "")) }
	switch {
	case one.Name == two.Name:
		return false
	case bare(one) == bare(two):
		return true
	case !jsondoc.Same(one.Input, two.Input):
		return false
	}
	return one.Description != "" && one.Description == two.Description || isAliasOf(one, two) || isAliasOf(two, one)
}

// aliasText matches texts of tools that are another name of a tool.
var aliasText = regexp.MustCompile(`(?i)\bnames?\b|\balias|\bsame as\b|\bdeprecated\b|\brenamed\b|\bsynonym|\breplaced by\b|\binstead\b`)

// isAliasOf reports whether a tool says that it is another name of a second one.
func isAliasOf(one, two Offer) bool {
	return aliasText.MatchString(one.Description) && strings.Contains(one.Description, two.Name)
}
