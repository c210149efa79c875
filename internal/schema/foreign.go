package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// dialects are the drafts tried for a schema without $schema, newest first.
var dialects = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft2019, jsonschema.Draft7, jsonschema.Draft6, jsonschema.Draft4}

// Foreign compiles a schema of another program and returns a function that validates
// documents. It uses the draft that the schema names, or else the newest draft that accepts
// the schema. If newest is set, it tries only the newest draft. If every draft rejects the
// schema, the error is the fault that the newest draft reports. References are not loaded.
// Patterns and formats match every text, because their syntax differs. A schema that cannot be
// judged, such as one with an external reference, allows every document.
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
	c.UseLoader(jsonschema.SchemeURLLoader{}) // refuses to load any URL
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

// assertedFormats are the formats that drafts before 2019-09 assert.
var assertedFormats = []string{"date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6", "iri", "iri-reference",
	"json-pointer", "period", "relative-json-pointer", "semver", "time", "uri", "uri-reference", "uri-template", "uuid"}

// foreignFault returns the fault that kept a schema from compiling. It returns false if the schema may be
// valid.
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

// innermost returns the first fault that has no further causes.
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
