package jsondoc_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/jsondoc"
)

func TestWithTexts(t *testing.T) {
	given := map[string]json.RawMessage{"a": json.RawMessage(`"x"`), "b": json.RawMessage(`{"c":"y","d":1}`), "e": json.RawMessage(`null`)}
	require.Equal(t, map[string]json.RawMessage{
		"a":   json.RawMessage(`{"a":"p","b":{"c":"y","d":1},"e":null}`),
		"b.c": json.RawMessage(`{"a":"x","b":{"c":"p","d":1},"e":null}`),
	}, jsondoc.WithTexts(given, "p"))
}

// TestShifts moves characters between arguments as far as both schemas allow.
func TestShifts(t *testing.T) {
	input := json.RawMessage(`{"type":"object","properties":{"bin":{"type":"string","pattern":"^[A-Z][0-9]{1,4}$"},"count":{"type":"integer","minimum":1,"maximum":99}}}`)
	var shifted bool
	for _, pair := range jsondoc.NearArguments(input, json.RawMessage(`{"bin":"A0","count":1}`)) {
		one, two := jsondoc.Members(pair[0]), jsondoc.Members(pair[1])
		var a, b string
		require.NoError(t, json.Unmarshal(one["bin"], &a))
		require.NoError(t, json.Unmarshal(two["bin"], &b))
		joined := a+string(one["count"]) == b+string(two["count"])
		shifted = shifted || joined && a != b
	}
	require.True(t, shifted)
}

// TestRenamedArguments keeps the order of values under other names.
func TestRenamedArguments(t *testing.T) {
	day := `{"type":"string","enum":["Mon","Tue","Wed"]}`
	input := json.RawMessage(`{"type":"object","properties":{"from":` + day + `,"n":{"type":"integer"},"to":` + day + `}}`)
	require.Equal(t, [][2]json.RawMessage{{json.RawMessage(`{"from":"Mon","to":"Tue","n":1}`), json.RawMessage(`{"to":"Mon","from":"Tue","n":1}`)}},
		jsondoc.RenamedArguments(input, jsondoc.FullSample(input, 0)))
}

func TestOtherEnd(t *testing.T) {
	for text, want := range map[string]string{"0419": "0410", "2718": "2719", "pin": "pix", "box": "boy"} {
		require.Equal(t, want, jsondoc.OtherEnd(text))
	}
}

func TestOtherArgumentsDifferHoweverTheyAreWritten(t *testing.T) {
	schema := `{"properties":{"where":{"type":"string","examples":["a > 1"]}}}`
	for _, given := range []string{`{"where":"a > 1"}`, `{"where":"a \u003e 1"}`, `{"where":"A > 1"}`} {
		require.JSONEq(t, `{"where":"sample"}`, string(jsondoc.OtherArguments([]byte(given), []byte(schema))), given)
	}
}

// TestMappedArguments replaces letters of given texts as far as the schema allows.
func TestMappedArguments(t *testing.T) {
	input := json.RawMessage(`{"properties":{"to":{"type":"string","pattern":"^[^@]+@[^@]+$"},"id":{"type":"string","pattern":"^[A-Z]+$"},"note":{"type":"string"}},"required":["to"]}`)
	one, two := json.RawMessage(`{"to":"mike@example.org","id":"KIS"}`), json.RawMessage(`{"to":"ross@example.org"}`)
	var all []string
	for _, pair := range jsondoc.MappedArguments(input, one, two) {
		all = append(all, string(pair[1]))
	}
	require.Equal(t, []string{
		`{"id":"KIS","note":"kiſs","to":"mike@example.org"}`, `{"id":"KIS","note":"kiß","to":"mike@example.org"}`,
		"{\"id\":\"KIS\",\"note\":\"\u212aiss\",\"to\":\"mike@example.org\"}", `{"id":"KIS","note":"ｋiss","to":"mike@example.org"}`,
		`{"id":"KIS","to":"mıke@example.org"}`, `{"to":"roß@example.org"}`,
		"{\"id\":\"KIS\",\"to\":\"mi\u212ae@example.org\"}", `{"id":"KIS","to":"ｍike@example.org"}`,
	}, all)
}
