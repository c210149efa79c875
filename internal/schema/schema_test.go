package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/schema"
)

func TestValidate(t *testing.T) {
	s := schema.New("urn:test", []byte(`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"integer"}}}`))
	require.NoError(t, s.Validate([]byte(`{"a":1}`)))
	for _, bad := range []string{`{}`, `{"a":"1"}`, `{"a":1,"b":2}`, `[]`, `{"a":1} x`, ``} {
		require.Error(t, s.Validate([]byte(bad)), bad)
	}
}

func TestDamagedDocuments(t *testing.T) {
	s := schema.New("urn:test", []byte(`{"type":"object"}`))
	for text, want := range map[string]string{"": "the file is empty", "  \n": "the file is empty", `{"a":`: "cut off"} {
		require.ErrorContains(t, s.Validate([]byte(text)), want, "%q", text)
	}
}

func TestBrokenSchemas(t *testing.T) {
	for _, broken := range []string{``, `{"type":"nonsense"}`} {
		require.Error(t, schema.New("urn:broken", []byte(broken)).Validate([]byte(`{}`)), broken)
	}
}
