package rawjson_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/rawjson"
)

// escaped appends the escape of a code point: \u and four digits.
func escaped(dst, text []byte, at int) ([]byte, int) {
	r, n := rawjson.DecodeRune(text[at:])
	return rawjson.AppendHex(dst, min(r, 0xffff), rawjson.LowerHex), n
}

// besideAngle escapes / after <, and other bytes in upper-case hexadecimal.
func besideAngle(dst, text []byte, at int) ([]byte, int) {
	if text[at] != '/' {
		return rawjson.AppendHex(dst, rune(text[at]), rawjson.UpperHex), 1
	}
	if at > 0 && text[at-1] == '<' {
		return append(dst, `\/`...), 1
	}
	return append(dst, '/'), 1
}

// quotings has one quoting of each kind: ASCII only, all text, and escapes that
// depend on the previous byte.
var quotings = map[string]*rawjson.Quoting{
	"ascii":   rawjson.NewQuoting(true, 0x7f, "\"\"\\\\\nn", escaped),
	"unicode": rawjson.NewQuoting(false, 0, "\"\"\\\\\nn", escaped),
	"slashes": rawjson.NewQuoting(false, '/', "\"\"\\\\\nn", besideAngle),
}

// pieces are texts that reach every branch of a quoting.
var pieces = []string{"a", "plain text of many words ", `"`, `\`, "\n", "\x01", "\x7f", "/", "</", "é", "€", "\xed\xa0\x80", "\ud7ff"}

func randomText(random *rand.Rand) (text []byte) {
	for range random.IntN(12) {
		text = append(text, pieces[random.IntN(len(pieces))]...)
	}
	return text
}

// TestQuotingRoundTrip checks that Cut accepts every output of Append,
// regardless of the room for the text.
func TestQuotingRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, q := range quotings {
		t.Run(name, func(t *testing.T) {
			for range 2000 {
				text := randomText(random)
				quoted := q.Append([]byte("before"), text)[len("before"):]
				require.Equal(t, string(quoted), string(q.AppendText(nil, string(text))))
				for _, room := range []int{0, len(text), len(text) + 64} {
					dst := append(make([]byte, 0, 3+room), "dst"...)
					got, rest, ok := q.Cut(dst, append(bytes.Clone(quoted), ",rest"...))
					require.True(t, ok, "%q", quoted)
					require.Equal(t, "dst"+string(text), string(got))
					require.Equal(t, ",rest", string(rest))
				}
			}
		})
	}
}

// TestQuotingTakesOneForm changes each byte of a string and truncates it
// everywhere. Cut must accept only outputs of Append.
func TestQuotingTakesOneForm(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, q := range quotings {
		t.Run(name, func(t *testing.T) {
			taken := 0
			for range 200 {
				quoted := q.Append(nil, randomText(random))
				for i := range quoted {
					_, _, ok := q.Cut(nil, quoted[:i])
					require.False(t, ok, "%q", quoted[:i])
					changed := bytes.Clone(quoted)
					changed[i] = "\x00\x1f /\"\\nu01aAfF<\x7f\x80\xc3\xed\xff"[random.IntN(20)]
					text, rest, ok := q.Cut([]byte("dst"), changed)
					if !ok {
						require.Equal(t, "dst", string(text))
						continue
					}
					taken++
					require.Equal(t, string(changed), string(q.Append(nil, text[3:]))+string(rest))
				}
			}
			require.NotZero(t, taken)
		})
	}
}

// TestQuotingRefuses checks that Cut refuses other encodings than those of
// Append.
func TestQuotingRefuses(t *testing.T) {
	for _, quoted := range []string{``, `a`, `"`, `"a`, `"\`, `"\"`, `"\u`, `"\u00`, `"\u0041"`, `"\u000A"`, `"\u000a"`, `"\/"`, "\"\n\"", `"\t"`, `"\x"`} {
		for name, q := range quotings {
			_, _, ok := q.Cut(nil, []byte(quoted))
			require.False(t, ok, "%s: %s", name, strconv.Quote(quoted))
		}
	}
	for quoted, name := range map[string]string{"\"é\"": "ascii", `"\u00E9"`: "ascii", `"\u00e9"`: "unicode", `"</"`: "slashes", `"\u001f"`: "slashes", "\"\xff\"": "ascii"} {
		_, _, ok := quotings[name].Cut(nil, []byte(quoted))
		require.False(t, ok, "%s: %s", name, strconv.Quote(quoted))
	}
}

func TestCutWhole(t *testing.T) {
	q := quotings["ascii"]
	room := make([]byte, 3, 200)
	text, ok := q.CutWhole(room, []byte(`"plain \" \u00e9"`))
	require.True(t, ok)
	require.Equal(t, "\x00\x00\x00plain \" é", string(text))
	for _, quoted := range []string{`"plain`, `"plain",`, `"plain \u0041"`} {
		clear(room[:cap(room)])
		text, ok := q.CutWhole(room, []byte(quoted))
		require.False(t, ok, quoted)
		require.Equal(t, room, text)
		require.Equal(t, make([]byte, cap(room)), room[:cap(room)], "the text is cleared: %s", quoted)
	}
}

// FuzzCut checks that Cut accepts only outputs of Append.
func FuzzCut(f *testing.F) {
	f.Add([]byte(`"plain \" \\ \n \u00e9 </ <\/"`))
	f.Fuzz(func(t *testing.T, quoted []byte) {
		for name, q := range quotings {
			if text, rest, ok := q.Cut(nil, quoted); ok {
				require.Equal(t, string(quoted), string(q.Append(nil, text))+string(rest), name)
			}
		}
	})
}
