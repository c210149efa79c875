package offers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	jsonschema "sealab/internal/schema"
)

// oddSchemas are input schemas as servers write them.
var oddSchemas = map[string]string{
	"a reference":         `{"type":"object","properties":{"env":{"$ref":"#/$defs/env"}},"required":["env"],"$defs":{"env":{"type":"string","enum":["prod","test"]}}}`,
	"a chain":             `{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/b"},"b":{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"]}}}`,
	"a circle":            `{"type":"object","properties":{"node":{"$ref":"#/$defs/node"}},"required":["node"],"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"next":{"$ref":"#/$defs/node"}},"required":["name"]}}}`,
	"all of":              `{"allOf":[{"type":"object","properties":{"a":{"type":"string","minLength":9}},"required":["a"]},{"properties":{"b":{"const":7}},"required":["b"]}]}`,
	"all of, one member":  `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"a":{"maxLength":9}},"required":["a"]}]}`,
	"one of with titles":  `{"type":"object","properties":{"env":{"type":"string","oneOf":[{"const":"p","title":"Production"},{"const":"t","title":"Test"}]}},"required":["env"]}`,
	"one of requirements": `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"oneOf":[{"required":["id"]},{"required":["name"]}]}`,
	"any of null":         `{"type":"object","properties":{"env":{"anyOf":[{"type":"null"},{"type":"string","pattern":"^[a-z]{3}-[0-9]{2}$"}]}},"required":["env"]}`,
	"a pattern":           `{"type":"object","properties":{"ticket":{"type":"string","pattern":"^(OPS|DEV)-\\d{4,6}$","maxLength":10}},"required":["ticket"],"additionalProperties":false}`,
	"any case":            `{"type":"object","properties":{"colour":{"type":"string","pattern":"^([Rr][Ee][Dd]|[Bb][Ll][Uu][Ee])$","examples":["red"]}},"required":["colour"]}`,
	"a long pattern":      `{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-zA-Z0-9_-]+$","minLength":12}},"required":["name"]}`,
	"nested":              `{"type":"object","properties":{"target":{"type":"object","properties":{"host":{"type":"string","format":"hostname"},"port":{"type":"integer","minimum":1024,"multipleOf":10}},"required":["host","port"]}},"required":["target"]}`,
	"arrays":              `{"type":"object","properties":{"tags":{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"string","enum":["a","b","c"]}}},"required":["tags"]}`,
	"bounds":              `{"type":"object","properties":{"x":{"type":"number","exclusiveMinimum":-3,"maximum":-1},"e":{"type":"string","format":"email"}},"required":["x","e"]}`,
	"members":             `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"boolean"}},"minProperties":1}`,
	"types":               `{"type":["object","null"],"properties":{"v":{"type":["null","string"],"minLength":2}},"required":["v"]}`,
}

// TestOddSchemas finds arguments and other arguments that each schema allows.
func TestOddSchemas(t *testing.T) {
	for name, text := range oddSchemas {
		t.Run(name, func(t *testing.T) {
			s := jsonschema.New("https://sealab.invalid/schema", []byte(text))
			flat := jsondoc.Inline(json.RawMessage(text))
			args := jsondoc.Samples(flat, 0)[0]
			allowed := func(raw json.RawMessage) {
				require.NoError(t, s.Validate(raw), "%s", raw)
			}
			allowed(args)
			for _, more := range jsondoc.Samples(flat, 0) {
				allowed(more)
			}
			other := jsondoc.OtherArguments(args, flat)
			require.NotNil(t, other, "%s", args)
			require.False(t, strings.EqualFold(string(args), string(other)), "a server may mean the same by %s and %s", args, other)
			allowed(other)
		})
	}
}

// TestOlderDraft checks that a schema of draft 4 that does not declare its draft is a fault under
// 2020-12.
func TestOlderDraft(t *testing.T) {
	raw := json.RawMessage(`{"type":"object","properties":{"x":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`)
	tool := client.Offer{Name: "a", Input: raw, Raw: raw}
	require.Contains(t, schemaFault(tool, true), "exclusiveMinimum")
	require.Empty(t, schemaFault(tool, false), "an older revision of the protocol")
	tool.Raw = json.RawMessage(`{"$schema":"http://json-schema.org/draft-04/schema#",` + string(raw[1:]))
	require.Empty(t, schemaFault(tool, true), "it names its draft")
}

// TestSoundSchemas checks that schemas as servers write them have no fault.
func TestSoundSchemas(t *testing.T) {
	for name, text := range oddSchemas {
		raw := json.RawMessage(text)
		require.Empty(t, schemaFault(client.Offer{Name: "a", Input: jsondoc.Inline(raw), Raw: raw}, true), name)
	}
}
