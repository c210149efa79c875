package findings

import (
	_ "embed"
	"fmt"

	"sealab/internal/schema"
)

// Schema is the JSON Schema (2020-12) of an array of findings.
//
//go:embed schema.json
var Schema []byte

var form = schema.New("urn:sealab:findings:1", Schema)

// Validate checks that data is an array of findings.
func Validate(data []byte) error {
	if err := form.Validate(data); err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	return nil
}
