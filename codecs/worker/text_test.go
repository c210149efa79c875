package worker

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

func TestTextCrosses(t *testing.T) {
	for _, s := range []string{
		"", "plain", `quo"te\back`, "\x00\x1f\x7f", "é\u2028\u2029\u20ac", "\U0001F600", "\ufffd",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xb0\x80\xed\xa0\x80", "a\xed\xa0\x80b", "\xed\xa0\x80\U0001F600", `\u0041`,
	} {
		quoted, err := appendText(nil, []byte(s))
		require.NoError(t, err, "%q", s)
		require.True(t, json.Valid(quoted), "%q: %s", s, quoted)
		back, err := readText(string(quoted))
		require.NoError(t, err, "%q", s)
		require.Equal(t, s, back)
	}
}

func TestTextIsWritten(t *testing.T) {
	for s, want := range map[string]string{
		"":                          `""`,
		"plain é\U0001F600\ufffd~":  `"plain é` + "\U0001F600\ufffd" + `~"`,
		`"\`:                        `"\"\\"`,
		"\x00\n\x1f\x7f ":           `"\u0000\n\u001f\u007f "`,
		"a\u2028b\u2029c":           `"a\u2028b\u2029c"`,
		"\xed\xb0\x80x\xed\xa0\xbd": `"\udc00x\ud83d"`,
	} {
		got, err := appendText([]byte("before"), []byte(s))
		require.NoError(t, err, "%q", s)
		require.Equal(t, "before"+want, string(got), "%q", s)
	}
}

func TestTextThatCannotCross(t *testing.T) {
	for _, s := range []string{"\xff", "a\xc3", "\xed\xa0", "\xed\xa0\x80\xed\xb0\x80", "\xc0\x80"} {
		_, err := appendText(nil, []byte(s))
		require.ErrorIs(t, err, codecs.ErrUnsupported, "%q", s)
	}
}

func TestTextOfOthers(t *testing.T) {
	for quoted, want := range map[string]string{
		`"\ud83d\ude00"`: "\U0001F600", `"\uD83D\n"`: "\xed\xa0\xbd\n", `"\u00e9\/\b\f\r\t\""`: "é/\b\f\r\t\"",
		`"\ud83d\u0041"`: "\xed\xa0\xbdA", `"\\u0041"`: `\u0041`,
	} {
		got, err := readText(quoted)
		require.NoError(t, err, quoted)
		require.Equal(t, want, got, quoted)
	}
	for _, other := range []string{`7`, `null`, `"`, `"\"`, `"\x"`, `"\u00g0"`, "\"\n\"", `"a" b`} {
		_, err := readText(other)
		require.Error(t, err, other)
	}
}

func readText(quoted string) (string, error) {
	r := reader{src: []byte(quoted)}
	s := r.string()
	return string(s), r.end()
}

func FuzzText(f *testing.F) {
	f.Add("a\xed\xa0\x80é\n")
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := appendText(nil, []byte(s))
		if err != nil {
			require.ErrorIs(t, err, codecs.ErrUnsupported)
			return
		}
		back, err := readText(string(quoted))
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}
