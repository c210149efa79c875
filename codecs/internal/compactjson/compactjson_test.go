package compactjson_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// table maps documents to the sorted output of CPython 3.11.
var table = map[string]string{
	` { "b" : [ 1 , 2 ] , "a" : { } } `:         `{"a":{},"b":[1,2]}`,
	`{"a":1,"a":2,"b":3,"a":4}`:                 `{"a":4,"b":3}`,
	`{"10":1,"2":2,"A":3,"a":4,"_":5}`:          `{"10":1,"2":2,"A":3,"_":5,"a":4}`,
	`{"\ud800":1,"\ue000":2,"😀":3}`:             `{"\ud800":1,"\ue000":2,"\ud83d\ude00":3}`,
	`{"é":1,"e":2,"\u00e9":3}`:                  `{"e":2,"\u00e9":3}`,
	`[true,false,null,[],{},""]`:                `[true,false,null,[],{},""]`,
	`"\"\\\/\b\f\n\r\t\u0000\u001f"`:            `"\"\\/\b\f\n\r\t\u0000\u001f"`,
	"\"\x7f\u0080<>&'\u2028\"":                  `"\u007f\u0080<>&'\u2028"`,
	`"\uD83D\uDE00 \uDE00\uD83D \uD83D\\uDE00"`: `"\ud83d\ude00 \ude00\ud83d \ud83d\\uDE00"`,
	"\"\xed\xa0\xbd\xed\xb8\x80\"":              `"\ud83d\ude00"`,
	`123456789012345678901234567890`:            `123456789012345678901234567890`,
	`-0`:                                        `0`,
	`-1`:                                        `-1`,
	`[-0.0,0.0,0e1,-0E-5]`:                      `[-0.0,0.0,0.0,-0.0]`,
	`1.0`:                                       `1.0`,
	`1E2`:                                       `100.0`,
	`1e15`:                                      `1000000000000000.0`,
	`1e16`:                                      `1e+16`,
	`9999999999999998.0`:                        `9999999999999998.0`,
	`123456789012345678.0`:                      `1.2345678901234568e+17`,
	`0.0001`:                                    `0.0001`,
	`0.00001`:                                   `1e-05`,
	`0.00012345`:                                `0.00012345`,
	`5e-324`:                                    `5e-324`,
	`2e-324`:                                    `0.0`,
	`1.7976931348623157e308`:                    `1.7976931348623157e+308`,
	`[1e309,-1e309]`:                            `[Infinity,-Infinity]`,
	`[NaN,Infinity,-Infinity]`:                  `[NaN,Infinity,-Infinity]`,
	`0.1`:                                       `0.1`,
	`2.675`:                                     `2.675`,
	`1e23`:                                      `1e+23`,
	`9007199254740993.0`:                        `9007199254740992.0`,
}

func TestAppendSorted(t *testing.T) {
	for doc, want := range table {
		got, err := compactjson.AppendSorted([]byte("x"), []byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, "x"+want, string(got), doc)
	}
}

func TestAppendKeepsOrder(t *testing.T) {
	got, err := compactjson.Append(nil, []byte(`{"b":1,"a":{"d":1,"c":2},"b":3}`))
	require.NoError(t, err)
	require.Equal(t, `{"b":3,"a":{"d":1,"c":2}}`, string(got))
}

func TestNotJSON(t *testing.T) {
	for _, doc := range []string{"", "{", "\"\xff\"", "[1,]", "nan", "-NaN", "\ufeff1", strings.Repeat("[", 1<<20)} {
		got, err := compactjson.AppendSorted([]byte("x"), []byte(doc))
		require.ErrorContains(t, err, "not JSON", "%.20q", doc)
		require.Equal(t, "x", string(got))
	}
}

func TestAppendFloatOfEveryExponent(t *testing.T) {
	for e := -1074; e <= 1023; e++ {
		f := math.Ldexp(1, e)
		text := compactjson.AppendFloat(nil, f)
		require.Equal(t, f, rawjson.ParseFloat(text))
		require.True(t, compactjson.IsFloat(text), "%s", text)
	}
}

// TestLoads checks the encodings and limits of json.loads on bytes.
func TestLoads(t *testing.T) {
	for _, doc := range []string{
		"[1]", "\xef\xbb\xbf[1]", "\xfe\xff\x00[\x001\x00]", "\xff\xfe[\x001\x00]\x00", "\x00[\x001\x00]", "[\x001\x00]\x00",
		"\x00\x00\xfe\xff\x00\x00\x00[\x00\x00\x001\x00\x00\x00]", "\xff\xfe\x00\x00[\x00\x00\x001\x00\x00\x00]\x00\x00\x00",
		"\x00\x00\x00[\x00\x00\x001\x00\x00\x00]", "[\x00\x00\x001\x00\x00\x00]\x00\x00\x00",
	} {
		v, err := compactjson.Loads([]byte(doc))
		require.NoError(t, err, "%q", doc)
		require.Equal(t, "[1]", string(compactjson.AppendValue(nil, &v)), "%q", doc)
	}
	for _, doc := range []string{"", "\xff[1]", "\xfe\xff\x00[\x001\x00", "[\x00\x00\x001\x00\x00\x00]\x00\x00\x01", "\xff\xfe\x00\x00[\x00\x00",
		strings.Repeat("9", 4301), "-" + strings.Repeat("9", 4301)} {
		_, err := compactjson.Loads([]byte(doc))
		require.Error(t, err, "%.20q", doc)
	}
	_, err := compactjson.Loads([]byte(strings.Repeat("9", 4300)))
	require.NoError(t, err)
}

// FuzzLoads checks that every document that Loads accepts has a compact form
// with the same value.
func FuzzLoads(f *testing.F) {
	for _, doc := range []string{"[1]", "\xff\xfe[\x001\x00]\x00", "\x00\x00\x00[\x00\x00\x001\x00\x00\x00]", `{"a":"\`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := compactjson.Loads(doc)
		if err != nil {
			return
		}
		once := compactjson.AppendValue(nil, &v)
		again, err := compactjson.Loads(once)
		require.NoError(t, err, "%q", once)
		require.Equal(t, string(once), string(compactjson.AppendValue(nil, &again)))
	})
}

// FuzzAppendSorted compares AppendPlain with AppendSorted, and checks that the
// compact form is ASCII, valid JSON, and its own compact form.
func FuzzAppendSorted(f *testing.F) {
	for doc := range table {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		requirePlain(t, doc)
		once, err := compactjson.AppendSorted(nil, doc)
		if err != nil {
			require.Empty(t, once)
			return
		}
		for _, c := range once {
			require.True(t, ' ' <= c && c <= '~', "%q gave %q", doc, once)
		}
		twice, err := compactjson.AppendSorted(nil, once)
		require.NoError(t, err, "%q", once)
		require.Equal(t, string(once), string(twice))
	})
}
