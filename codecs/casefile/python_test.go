package casefile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStr compares str with CPython 3.11: str of json.loads of each document.
func TestStr(t *testing.T) {
	for doc, want := range map[string]string{
		`"a'\n"`: "a'\n", `1`: "1", `-0`: "0", `-0.0`: "-0.0", `1e22`: "1e+22", `1e400`: "inf", `-Infinity`: "-inf", `NaN`: "nan",
		`true`: "True", `false`: "False", `null`: "None", `[]`: "[]", `{}`: "{}",
		`["a","\"","'","'\"","\\","\n\r\t","\u0000\u007f"]`:        `['a', '"', "'", '\'"', '\\', '\n\r\t', '\x00\x7f']`,
		`["\u00a0é\u2028\u200d\ud83d\ude00\udb40\udc01","\ud800"]`: `['\xa0é\u2028\u200d😀\U000e0001', '\ud800']`,
		`{"b":1,"a":{"c":[null,true,false,1.0]},"b":1e400}`:        `{'b': inf, 'a': {'c': [None, True, False, 1.0]}}`,
	} {
		v, err := written.Parse([]byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, want, str(&v), doc)
	}
}
