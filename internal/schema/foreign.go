package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dialects are the drafts that a schema without $schema may be of, the newest first.
var dialects = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft2019, jsonschema.Draft7, jsonschema.Draft6, jsonschema.Draft4}

// Foreign reads a schema of another program as the draft that it names, else as the
// newest one that allows it, and returns a function that judges documents by it. The error
// is the fault for which a validator of every draft refuses the schema. With newest, a
// schema that names no draft is read as the newest one alone. Nothing is loaded. Patterns
// and formats allow every text, since their syntax differs. A schema that cannot be
// judged, as one with a reference to elsewhere, allows every document.
func Foreign(doc any, newest bool) (validate func(document any) error, err error) {
	tried := dialects
	if newest {
		tried = dialects[:1]
	}
	for _, d := range tried {
		compiled, refused := compileForeign(doc, d)
		fault, judged := foreignFault(refused)
		switch {
		case refused == nil:
			return func(document any) error { return innermost(compiled.Validate(document)) }, nil
		case !judged:
			return func(any) error { return nil }, nil
		case err == nil:
			err = fault
		}
	}
	return nil, err
}

const foreignURL = "urn:schema"

func compileForeign(doc any, d *jsonschema.Draft) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(d)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // loads nothing
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return anyText(text), nil })
	for _, name := range assertedFormats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(foreignURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(foreignURL)
}

// anyText is a pattern that matches every text.
type anyText string

func (p anyText) String() string        { return string(p) }
func (anyText) MatchString(string) bool { return true }

// assertedFormats are those that drafts before 2019-09 assert.
var assertedFormats = []string{"date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri", "iri-reference",
	"json-pointer", "period", "relative-json-pointer", "semver", "time", "uri", "uri-reference", "uri-template", "uuid"}

// foreignFault returns the fault for which a schema was not compiled; false if the schema
// may have none.
func foreignFault(err error) (error, bool) {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		return innermost(invalid.Err), true
	}
	missing, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err)
	if !ok {
		return nil, false
	}
	pointer, own := strings.CutPrefix(missing.URL, foreignURL)
	return fmt.Errorf("nothing stands at the reference %q", pointer), own
}

// innermost returns the first fault without other causes.
func innermost(err error) error {
	fault, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	for len(fault.Causes) > 0 {
		fault = fault.Causes[0]
	}
	return fault
}
