// Package schema validates documents against a JSON Schema (draft 2020-12) that is part of the program.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a JSON Schema. It is compiled on first use.
type Schema struct {
	compiled func() (*jsonschema.Schema, error)
}

// New returns the schema with the given text. url names it in errors.
func New(url string, text []byte) *Schema {
	return &Schema{sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(url, text) })}
}

func compile(url string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", url, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("schema %s: %w", url, err)
	}
	return c.Compile(url)
}

// Validate returns an error unless data is a JSON document that follows the schema.
func (s *Schema) Validate(data []byte) error {
	schema, err := s.compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty, want a JSON document")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON document is cut off")
	case err != nil:
		return err
	}
	return schema.Validate(doc)
}
