package program

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAlter checks one change of each kind.
func TestAlter(t *testing.T) {
	at := func(kind, place int) *Writer {
		var w Writer
		return w.Byte(byte(kind)).Byte(Anywhere).Uint16(place)
	}
	for _, c := range []struct {
		name  string
		input *Writer
		want  string
	}{
		{"replace a character", at(0, 1).Byte(0).Byte('x' - ' '), "axc-_"},
		{"flip bits of a value", at(1, 0).Byte(1), "bbc-_"},
		{"truncate", at(2, 2), "ab"},
		{"cut from the front", at(3, 2), "c-_"},
		{"insert a lenient character", at(4, 2).Byte(0), "ab=c-_"},
		{"insert bytes", at(5, 0).Bytes([]byte("xy")), "xyabc-_"},
		{"append a part of itself", at(6, 3), "abc-_-_"},
		{"replace everything", at(7, 0).Bytes([]byte("xy")), "xy"},
		{"the other alphabet", at(8, 4), "abc-/"},
		{"exchange neighbors", at(12, 1), "acb-_"},
		{"exchange the parts", at(13, 2), "c-_ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(Alter(New(c.input.Program()), []byte("abc-_"))))
		})
	}
}

// TestAlterAnything alters tokens of various lengths, including empty ones, with every kind and
// place.
func TestAlterAnything(t *testing.T) {
	for _, token := range []string{"", "a", "v1.", "v1.AAAA"} {
		for kind := range byte(14) {
			for place := range byte(10) {
				require.NotPanics(t, func() { Alter(New([]byte{kind, place, 0xff, 0xff, 0xff}), []byte(token)) }, "%q %d %d", token, kind, place)
			}
		}
	}
}

func TestResize(t *testing.T) {
	for n, want := range map[int]string{0: "", 2: "ab", 3: "abc", 7: "abcabca"} {
		require.Equal(t, want, string(resize([]byte("abc"), n)))
	}
	require.Empty(t, resize(nil, 5))
}

// TestLiterals checks that words and numbers of the source are found.
func TestLiterals(t *testing.T) {
	d := sourceLiterals()
	require.Greater(t, len(d.words.things), 100)
	require.Contains(t, d.numbers.things, 4096)
	require.True(t, slices.IsSorted(d.numbers.things))
	for _, text := range []string{`{"v":1,"iat":`, "tools/call", "\n"} {
		require.Contains(t, d.words.things, []byte(text))
	}
}

// TestMatter checks that payloads are as their choices describe.
func TestMatter(t *testing.T) {
	var raw Writer
	require.Equal(t, "abc", string(Payload(New(raw.Bytes([]byte("abc")).Program()), nil)))
	var filled Writer
	// Recipe 1, with the fifth border and one byte more.
	filled.Uint16(301).Byte('x').Byte(10).Byte(4).Byte(5)
	require.Len(t, Payload(New(filled.Program()), nil), lengthBorders[4]+1)
	require.Equal(t, "ab..c", string(pad([]byte("ab"), '.', []byte("c"), 5)))
	require.Equal(t, "abc", string(pad([]byte("ab"), '.', []byte("c"), 0)))
}
