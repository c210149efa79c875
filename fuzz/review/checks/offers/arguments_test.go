package offers

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// TestWrongValues changes each place of a value once: a schema allows none of the results,
// and it allows those that a tool is called with.
func TestWrongValues(t *testing.T) {
	const text = `{"type":"object","required":["person","n"],"additionalProperties":false,"properties":{"n":{"type":"integer","minimum":0,"maximum":9},
		"person":{"type":"object","required":["name"],"properties":{"name":{"type":"string","maxLength":5},"either":{"type":["string","integer"]}}},
		"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}`
	o := client.Offer{Input: json.RawMessage(text)}
	names := map[string]bool{}
	for _, x := range wrongValues(o.Input, jsondoc.FullSample(o.Input, 0), "it", 0) {
		require.NotEmpty(t, jsondoc.Misfit(o.Input, valueOf(x.value)), "%s: %s", x.name, x.value)
		names[x.name] = true
	}
	for _, name := range []string{"another type for it.n", "more than the maximum for it.n", "less than the minimum for it.n", "it without n", "it without person", "it.person without name",
		"another type for it.person.name", "a longer text for it.person.name", "none of the list for it.tags.0", "another type for it.tags"} {
		require.True(t, names[name], "%s: %v", name, names)
	}
	require.False(t, names["another type for it.person.either"])
	for _, arguments := range variousArguments(o) {
		require.Empty(t, jsondoc.Misfit(o.Input, valueOf(arguments)), "%s", arguments)
	}
}
