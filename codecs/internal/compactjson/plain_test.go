package compactjson_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/compactjson"
)

// requirePlain compares AppendPlain with AppendSorted and reports whether
// AppendPlain accepted doc.
func requirePlain(t *testing.T, doc []byte) bool {
	t.Helper()
	got, ok := compactjson.AppendPlain([]byte("x"), doc)
	if !ok {
		require.Equal(t, "x", string(got))
		return false
	}
	want, err := compactjson.AppendSorted([]byte("x"), doc)
	require.NoError(t, err, "%q", doc)
	require.Equal(t, string(want), string(got), "%q", doc)
	return true
}

// TestAppendPlain checks documents that AppendPlain accepts, and unusual ones
// that it does not.
func TestAppendPlain(t *testing.T) {
	for _, doc := range []string{
		`{}`, `[]`, `""`, `0`, `-1`, ` [ ] `, `{"b":1,"a":{"d":[true,false,null],"c":""}}`, "\t{ \"b\" :\n1 ,\r\"a\": [ 1 , 2 ] } ",
		`{"ab":1,"a":2,"a!":3,"B":4,"":5}`, `123456789012345678901234567890`, `{"c":1,"a":{"z":1,"y":2},"b":[{"q":1,"p":2}]}`,
		strings.Repeat("[", 8) + strings.Repeat("]", 8), `{"15":1,"14":1,"13":1,"12":1,"11":1,"10":1,"9":1,"8":1,"7":1,"6":1,"5":1,"4":1,"3":1,"2":1,"1":1,"0":1}`,
	} {
		require.True(t, requirePlain(t, []byte(doc)), doc)
	}
	for _, doc := range []string{
		``, ` `, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a":1 "b":2}`, `{1:2}`, `1 2`, `]`, `}`, `,`, `tru`, `01`, `-`, `-0`, `-01`, `+1`,
		`tr ue`, `- 1`, `[1 2 ]`, `[tr ue]`, `"a" "b"`, `{"a" "b"}`, `"a\" 1" 2`, ` {"a":1,"a":2}`, `1.0`, `1e3`, `1E3`, `NaN`, `-Infinity`, `"`, `"a`, `"\n"`, "\"\n\"", `"é"`, "\"\x7f\"", `"a\"`, `{"a":1,"a":2}`, `{"b":1,"a":2,"b":3}`, `{"a":1]`, `[1}`, "\v1", "\ufeff1",
		strings.Repeat("[", 9) + strings.Repeat("]", 9), `{"16":1,"15":1,"14":1,"13":1,"12":1,"11":1,"10":1,"9":1,"8":1,"7":1,"6":1,"5":1,"4":1,"3":1,"2":1,"1":1,"0":1}`,
	} {
		require.False(t, requirePlain(t, []byte(doc)), doc)
	}
}

var plain = flag.Int("plain", 20_000, "documents of which AppendPlain and AppendSorted are compared")

// TestAppendPlainOfRandomDocuments changes plain documents at random. make
// fast-paths runs a million.
func TestAppendPlainOfRandomDocuments(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const whole = `{"release":"2026.11.2","environment":"eu-west-1","canary":true,"z":[1,-20,{"b":null,"a":[]}],"a":{}}`
	taken, left := 0, 0
	for range *plain {
		doc := []byte(whole)
		for range 1 + random.IntN(4) {
			doc[random.IntN(len(doc))] = " \t{}[]\",:019-.eabz\\\x00\xc3"[random.IntN(21)]
		}
		if requirePlain(t, doc) {
			taken++
		} else {
			left++
		}
	}
	t.Logf("%d documents taken, %d left", taken, left)
	require.Greater(t, taken, *plain/20)
	require.Greater(t, left, *plain/20)
}
