package rawjson

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// byBytes implements Append byte by byte.
func (q *Quoting) byBytes(dst, text []byte) []byte {
	dst = append(dst, '"')
	for at := 0; at < len(text); {
		switch c := text[at]; {
		case q.letters[c] != 0:
			dst = append(dst, '\\', q.letters[c])
			at++
		case q.plain[c]:
			dst = append(dst, c)
			at++
		default:
			var n int
			dst, n = q.escape(dst, text, at)
			at += n
		}
	}
	return append(dst, '"')
}

var testedQuotings = map[string]*Quoting{
	"ascii": NewQuoting(true, 0x7f, "\"\"\\\\\nn", func(dst, text []byte, at int) ([]byte, int) {
		r, n := DecodeRune(text[at:])
		return AppendHex(dst, min(r, 0xffff), LowerHex), n
	}),
	"surrogates": NewQuoting(false, 0xed, "\"\"\\\\\nn", func(dst, text []byte, at int) ([]byte, int) {
		return AppendHex(dst, rune(text[at]), LowerHex), 1
	}),
}

// requireAsBytes compares Append with byBytes and cuts the result again.
// Sentinels after the room check that it is not exceeded.
func requireAsBytes(t *testing.T, q *Quoting, text []byte) {
	t.Helper()
	want := q.byBytes(nil, text)
	if got := q.Append(nil, text); !bytes.Equal(want, got) {
		require.Equal(t, string(want), string(got))
	}
	const sentinels = 40
	for _, room := range []int{len(text), len(text) + 31, len(text) + 64} {
		memory := bytes.Repeat([]byte{0xa5}, 3+room+sentinels)
		got, rest, ok := q.Cut(memory[:3:3+room], want)
		if !ok || len(rest) > 0 {
			t.Fatalf("cutting %q: done %t, and %q is left", want, ok, rest)
		}
		// Other text must survive the round trip only if it is valid.
		if isASCII(text) && !bytes.Equal(text, got[3:]) {
			require.Equal(t, string(text), string(got[3:]))
		}
		if behind := memory[3+room:]; bytes.Count(behind, []byte{0xa5}) != sentinels {
			t.Fatalf("cutting %q wrote behind its room: %x", text, behind)
		}
	}
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= 0x80 })
}

// TestBlocksAsBytes puts every byte, and pairs of special bytes, at every
// position of texts with lengths around the sizes of words and blocks.
func TestBlocksAsBytes(t *testing.T) {
	for name, q := range testedQuotings {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{7, 33, 65} {
				for at := range n {
					text := bytes.Repeat([]byte("p"), n)
					for c := range 256 {
						if text[at] = byte(c); c < 0x80 || name == "ascii" && c != 0xff {
							requireAsBytes(t, q, bytes.ToValidUTF8(text, []byte("é")))
						}
					}
					for _, c := range `"\` {
						for beside := range n {
							text := bytes.Repeat([]byte("p"), n)
							text[at], text[beside] = byte(c), '\\'
							requireAsBytes(t, q, text)
						}
					}
				}
			}
		})
	}
}

// TestDenseBlocksAsBytes uses random texts in which most bytes are escaped.
func TestDenseBlocksAsBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 10_000 {
		text := make([]byte, random.IntN(200))
		for i := range text {
			text[i] = "\"\\pq\n\x00/"[min(random.IntN(7), random.IntN(12))]
		}
		for _, q := range testedQuotings {
			requireAsBytes(t, q, text)
		}
	}
}

// TestRunes appends every character of up to three bytes, and such characters
// with one byte replaced, at positions on both sides of a block's end.
func TestRunes(t *testing.T) {
	q := testedQuotings["ascii"]
	check := func(before int, character []byte) {
		t.Helper()
		text := append(append(bytes.Repeat([]byte("x"), before), character...), "wxyz"[:before%5]...)
		if want, got := q.byBytes(nil, text), q.Append(nil, text); !bytes.Equal(want, got) {
			require.Equal(t, string(want), string(got), "%q", text)
		}
	}
	for r := range rune(1 << 16) {
		check(int(r)%41, AppendRune(nil, r))
	}
	for before := 25; before < 36; before++ {
		for _, character := range []string{"é", "€", "\ud7ff", "\ue000"} {
			for at := range len(character) {
				for c := range 256 {
					changed := []byte(character)
					changed[at] = byte(c)
					check(before, changed)
				}
			}
		}
	}
}

// TestEscapedRunes cuts every \u escape of four digits, and escapes with one
// digit replaced by any byte, at positions on both sides of a block's end. Cut
// must accept only outputs of Append.
func TestEscapedRunes(t *testing.T) {
	q := testedQuotings["ascii"]
	check := func(before int, escape []byte) {
		t.Helper()
		quoted := append(append([]byte(`"`+strings.Repeat("x", before)), escape...), `x"`...)
		text, rest, ok := q.Cut(nil, quoted)
		p := parser{src: quoted}
		var want []byte
		valid := p.text(&want) && bytes.Equal(q.byBytes(nil, want), quoted[:p.at])
		if ok != valid || ok && (!bytes.Equal(want, text) || len(rest) != len(quoted)-p.at) {
			t.Fatalf("cutting %q: %q, done %t, want %q, %t", quoted, text, ok, want, valid)
		}
	}
	for r := range rune(1 << 16) {
		check(int(r)%80, AppendHex(nil, r, LowerHex))
	}
	for before := 50; before < 66; before++ {
		for at := range 6 {
			for c := range 256 {
				escape := []byte(`\u20ac`)
				escape[at] = byte(c)
				check(before, escape)
			}
		}
	}
}

// TestValidUTF8 puts a valid or invalid sequence at every position of ASCII
// texts of all small lengths.
func TestValidUTF8(t *testing.T) {
	sequences := []string{"", "é", "—", "\ufffd", "😀", "\U0010ffff", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x80",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf0", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "é\x80", "—\xe2"}
	for n := range 100 {
		for at := range n + 1 {
			for _, s := range sequences {
				text := slices.Clip([]byte(strings.Repeat("x", at) + s + strings.Repeat("x", n-at)))
				require.Equal(t, utf8.Valid(text), ValidUTF8(text), "%q", text)
			}
		}
	}
}
