package rawjson_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/rawjson"
)

func TestParseKeepsEverything(t *testing.T) {
	v, err := rawjson.Parse([]byte(` {"a":[1.0,-0,1e5],"b":null,"a":"\ud83d\ude00\ud800x\u00E9\/"} `))
	require.NoError(t, err)
	require.Equal(t, rawjson.Object, v.Kind)
	require.Len(t, v.Members, 3)
	literals := v.Members[0].Value.Items
	require.Equal(t, "1.0 -0 1e5", string(literals[0].Text)+" "+string(literals[1].Text)+" "+string(literals[2].Text))
	require.True(t, v.Lookup("a").IsString("😀\xed\xa0\x80xé/"))
	require.Equal(t, "[1.0,-0,1e5]", string(v.Members[0].Value.Raw))
	require.Nil(t, v.Lookup("c"))
	require.False(t, v.Lookup("c").IsString(""))
}

var refused = []string{
	"", " ", "nul", "nulls", "tru", "[", "]", "[1", "[1,", "[1,]", "[,1]", "{", "{}x", "{,}", `{"a"}`, `{"a":}`, `{"a":1,}`,
	`{a:1}`, `{"a":1 "b":2}`, "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "--1", "NaN", "Infinity", "-Infinity",
	`"`, `"\`, `{"p":"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"", "\"\x00\"", "'a'", "1 2", "/**/1", "\ufeff1", "\v1",
}

func TestParseRefuses(t *testing.T) {
	for _, doc := range refused {
		exact := slices.Clip([]byte(doc)) // no byte after the end can be read
		_, err := rawjson.Parse(exact)
		require.ErrorContains(t, err, "not JSON: ", "%q", doc)
		require.False(t, json.Valid([]byte(doc)), "%q", doc)
	}
}

func TestDialects(t *testing.T) {
	for _, c := range []struct {
		dialect rawjson.Dialect
		docs    []string
	}{
		{rawjson.Dialect{NonFinite: true}, []string{"NaN", "[-Infinity]", "Infinity"}},
		{rawjson.Dialect{Controls: true}, []string{"\"a\n\x01\"", "\"\\u0041\x00\""}},
		{rawjson.Dialect{AnyEscape: true}, []string{`"\x"`, `"\'\é"`}},
		{rawjson.Dialect{Trailing: true}, []string{"[1,]", `{"a":[1 , ] , }`}},
		{rawjson.Dialect{BarePoint: true}, []string{"1.", "[-0.]", "1.e5"}},
		{rawjson.Dialect{Comments: true}, []string{"/* */1", "1//x\n", "[/**/ 1 /***/,//\n2]"}},
	} {
		for _, doc := range c.docs {
			_, err := c.dialect.Parse([]byte(doc))
			require.NoError(t, err, "%q", doc)
			_, err = rawjson.Parse([]byte(doc))
			require.Error(t, err, "%q", doc)
		}
	}
	_, err := rawjson.Dialect{Trailing: true}.Parse([]byte("[,]"))
	require.Error(t, err)
	_, err = rawjson.Dialect{BarePoint: true}.Parse([]byte(".5"))
	require.Error(t, err)
	_, err = rawjson.Dialect{AnyEscape: true}.Parse([]byte("\"\\\n\""))
	require.Error(t, err)
	for _, doc := range []string{"/", "/*", "/*/", "1//x", "/x\n1"} {
		_, err := rawjson.Dialect{Comments: true}.Parse([]byte(doc))
		require.Error(t, err, "%q", doc)
	}
}

// TestAnyPair compares with vibe.d 0.9.
func TestAnyPair(t *testing.T) {
	requireTexts(t, rawjson.Dialect{AnyPair: true}, map[string]string{
		`\ud83d\ude00`: "😀", `\ud83dxude00x`: "😀x", `\ud83d"ude00`: "😀", `\ud83déude00`: "😀", `\ud83d😀ude00`: "😀", `\udc00`: "\xed\xb0\x80",
	}, `\ud83d`, `\ud83dx`, `\ud83dxu`, `\ud83dxude0`, `\ud83dxude0g`, `\ud83d\u0041`, `\ud83d\ud83d\ude00`, `\ud83dude00`)
}

// requireTexts checks that a dialect reads texts as wanted and refuses others, also if the document
// ends within one.
func requireTexts(t *testing.T, d rawjson.Dialect, wanted map[string]string, refused ...string) {
	t.Helper()
	for text, want := range wanted {
		v, err := d.Parse([]byte(`"` + text + `"`))
		require.NoError(t, err, text)
		require.Equal(t, want, string(v.Text), text)
	}
	for _, text := range refused {
		_, err := d.Parse([]byte(`"` + text + `"`))
		require.Error(t, err, text)
		_, err = d.Parse(slices.Clip([]byte(`"` + text)))
		require.Error(t, err, text)
	}
}

// TestHalves compares with json 2.6.1 of Ruby 3.1.
func TestHalves(t *testing.T) {
	requireTexts(t, rawjson.Dialect{Halves: true}, map[string]string{
		`\ud800abcdef`: "?bcdef", `\ud800\n\n\n`: "?n\n\n", `\ud800\u1234x`: "\U00010234x", `\ud800\ud801`: "\U00010001",
		`\ud83d\u0041`: "\U0001f441", `\udbff\uffff`: "\U0010ffff", `\ud800\ud800\udc00`: "\U00010000\xed\xb0\x80",
		`\udc00`: "\xed\xb0\x80", `\ud83d\ude00`: "😀",
		`\ud800\"abcd`: `?"abcd`, `\ud800\\nabcd`: "?\nabcd", `\ud800\\\"abc`: `?\"abc`, `\ud800\\uZZZZ`: "?\ufffd",
		`\ud800\"\ud800\"abcd`: `?"?"abcd`, `\ud800\ud800\"abcdef`: "\U00010000\"abcdef",
	}, `\ud800`, `\ud800a`, `\ud800abcde`, `\ud800\u12`, `\ud800\u12zz`, `\ude00\ud83d`, `\ud800\"abc`, `\ud800abcdef\uZZZZ`, "\\ud800\nabcdef", `\ud800\\uZZZ`)
}

// TestEscapedBytes checks that the Ruby dialect keeps a byte that is not UTF-8
// after a backslash.
func TestEscapedBytes(t *testing.T) {
	v, err := rawjson.Ruby.Parse([]byte("[\"a\\\x80\\\xffb\"]"))
	require.NoError(t, err)
	require.Equal(t, "a\x80\xffb", string(v.Items[0].Text))
}

func TestDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	_, err := rawjson.Parse(nested(rawjson.DefaultMaxDepth))
	require.NoError(t, err)
	for _, n := range []int{rawjson.DefaultMaxDepth + 1, 1 << 20} {
		_, err = rawjson.Parse(nested(n))
		require.ErrorContains(t, err, "nesting too deep")
	}
	_, err = rawjson.Dialect{MaxDepth: 2}.Parse([]byte("[[[]]]"))
	require.ErrorContains(t, err, "nesting too deep")
}

func TestGeneralisedUTF8(t *testing.T) {
	for text, want := range map[string][2]bool{ // valid, valid WTF-8
		"":                         {true, true},
		"é😀\ufffd":                 {true, true},
		"\xed\xa0\xbd":             {true, true},
		"\xed\xb8\x80\xed\xa0\xbd": {true, true},
		"\xed\xa0\xbd\xed\xb8\x80": {true, false},
		"\xff":                     {false, false},
		"\xed\xa0":                 {false, false},
		"\xc0\x80":                 {false, false},
		"\xf4\x90\x80\x80":         {false, false},
	} {
		require.Equal(t, want, [2]bool{rawjson.Valid([]byte(text)), rawjson.ValidWTF8([]byte(text))}, "%q", text)
	}
	for r := rune(0xd7ff); r <= 0xe000; r++ {
		got, n := rawjson.DecodeRune(rawjson.AppendRune(nil, r))
		require.Equal(t, r, got)
		require.Equal(t, 3, n)
	}
}

// FuzzParse compares the dialect without extensions with the standard library.
func FuzzParse(f *testing.F) {
	for _, doc := range refused {
		f.Add([]byte(doc))
	}
	f.Add([]byte(`{"a":[1.5e-7,true,false,null,"\n\ud800"],"a":{}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		_, err := rawjson.Parse(doc)
		if bytes.Count(doc, []byte("["))+bytes.Count(doc, []byte("{")) > 5000 {
			return // the maximum depths of the two differ
		}
		require.Equal(t, json.Valid(doc), err == nil, "%q: %v", doc, err)
	})
}

func TestOrderOfMembers(t *testing.T) {
	for doc, want := range map[string][2]string{ // by name, in first places
		`{}`:                          {`{}`, `{}`},
		`{"a":1}`:                     {`{"a":1}`, `{"a":1}`},
		`{"a":1,"b":2,"c":3}`:         {`{"a":1,"b":2,"c":3}`, `{"a":1,"b":2,"c":3}`},
		`{"a":1,"a":2}`:               {`{"a":2}`, `{"a":2}`},
		`{"b":1,"a":2,"b":3}`:         {`{"a":2,"b":3}`, `{"b":3,"a":2}`},
		`{"a":1,"b":2,"c":3,"b":4}`:   {`{"a":1,"b":4,"c":3}`, `{"a":1,"b":4,"c":3}`},
		`{"a":1,"B":2,"\u00e9":3}`:    {`{"B":2,"a":1,"é":3}`, `{"a":1,"B":2,"é":3}`},
		`{"ab":1,"a":2,"":3,"abc":4}`: {`{"":3,"a":2,"ab":1,"abc":4}`, `{"ab":1,"a":2,"":3,"abc":4}`},
	} {
		v, err := rawjson.Parse([]byte(doc))
		require.NoError(t, err)
		for i, members := range []func([]rawjson.Member) []rawjson.Member{rawjson.ByName, rawjson.FirstPlaces} {
			p := rawjson.Printer{
				Quoting: quotings["unicode"], Members: members,
				Number: func(dst, literal []byte) []byte { return append(dst, literal...) },
			}
			require.Equal(t, want[i], string(p.AppendValue(nil, &v)), doc)
		}
	}
}

// TestAppendHexDigest compares AppendHexDigest with the standard library, for
// each value of each byte.
func TestAppendHexDigest(t *testing.T) {
	for value := range 256 {
		var digest [32]byte
		for i := range digest {
			digest[i] = byte(value + i)
		}
		require.Equal(t, hex.EncodeToString(digest[:]), string(rawjson.AppendHexDigest(nil, &digest)))
	}
}

// TestNumbersAsStrconv compares ParseFloat and AppendJSNumber, which treat
// integers by themselves, with package strconv.
func TestNumbersAsStrconv(t *testing.T) {
	for _, literal := range []string{"0", "-0", "007", "1795132800", "-1795132800", "999999999999999", "1000000000000000", "9007199254740991",
		"9007199254740992", "9007199254740993", "1.0", "1e3", "1e-7", "1e21", "1e400", "", "12x"} {
		want, _ := strconv.ParseFloat(literal, 64)
		got := rawjson.ParseFloat([]byte(literal))
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), literal)
		if a := math.Abs(want); want == 0 || 1e-6 <= a && a < 1e21 {
			require.Equal(t, strconv.FormatFloat(want+0, 'f', -1, 64), string(rawjson.AppendJSNumber(nil, got)), literal)
		}
	}
}
