package findings

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is the JSON Schema (2020-12) of an array of findings.
//
//go:embed schema.json
var Schema []byte

const schemaURL = "urn:sealab:findings:1"

var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, fmt.Errorf("sealab: schema.json: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("sealab: schema.json: %w", err)
	}
	return c.Compile(schemaURL)
})

// Validate checks that data is an array of findings.
func Validate(data []byte) error {
	schema, err := compiled()
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("sealab: findings: %w", err)
	}
	if err := schema.Validate(doc); err != nil {
		return fmt.Errorf("sealab: findings: %w", err)
	}
	return nil
}
