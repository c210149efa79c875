package draw

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestLiterals finds words and numbers of the source.
func TestLiterals(t *testing.T) {
	d := literals()
	require.Greater(t, len(d.words.things), 100)
	require.Contains(t, d.numbers.things, 4096)
	require.True(t, slices.IsSorted(d.numbers.things))
	for _, text := range []string{`{"v":1,"iat":`, "tools/call", "\n"} {
		require.Contains(t, d.words.things, []byte(text))
	}
}

// TestMatter makes what its choices say.
func TestMatter(t *testing.T) {
	var raw program.Writer
	require.Equal(t, "abc", string(Payload(program.New(raw.Bytes([]byte("abc")).Program()), nil)))
	var filled program.Writer
	// Recipe 1, with the fifth border and one byte more.
	filled.Uint16(301).Byte('x').Byte(10).Byte(4).Byte(5)
	require.Len(t, Payload(program.New(filled.Program()), nil), borders[4]+1)
	require.Equal(t, "ab..c", string(pad([]byte("ab"), '.', []byte("c"), 5)))
	require.Equal(t, "abc", string(pad([]byte("ab"), '.', []byte("c"), 0)))
}
