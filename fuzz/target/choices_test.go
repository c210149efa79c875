package target

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

// TestLiterals finds words and numbers of the source, and what names them.
func TestLiterals(t *testing.T) {
	d := literals()
	require.Greater(t, len(d.words), 100)
	require.Contains(t, d.numbers, 4096)
	require.True(t, slices.IsSorted(d.numbers))
	for _, text := range []string{`{"v":1,"iat":`, "tools/call", "\n"} {
		at := slices.IndexFunc(d.words, func(w word) bool { return string(w.text) == text })
		require.GreaterOrEqual(t, at, 0, "%q", text)
		var w program.Writer
		chosen := literal(program.New(w.Uint16(int(d.words[at].hash)).Program()))
		require.Equal(t, d.words[at].hash, hashOf(string(chosen)))
	}
}

// TestMatter makes what its choices say.
func TestMatter(t *testing.T) {
	var raw program.Writer
	require.Equal(t, "abc", string(matter(program.New(raw.Bytes([]byte("abc")).Program()), nil)))
	var filled program.Writer
	// Recipe 1, with the fifth border and one byte more.
	filled.Uint16(301).Byte('x').Byte(10).Byte(4).Byte(near + 1)
	require.Len(t, matter(program.New(filled.Program()), nil), borders[4]+1)
	require.Equal(t, "ab..c", string(pad([]byte("ab"), '.', []byte("c"), 5)))
	require.Equal(t, "abc", string(pad([]byte("ab"), '.', []byte("c"), 0)))
}

// TestChoose names each by its number, and passes over what is dear.
func TestChoose(t *testing.T) {
	dear := func(i int) bool { return i == 2 }
	require.Equal(t, 2, choose(program.New([]byte{2}), 3, dear))
	require.Equal(t, 0, choose(program.New([]byte{5}), 3, dear))
	require.Equal(t, 2, choose(program.New([]byte{5}), 3, func(int) bool { return true }))
	require.True(t, slices.ContainsFunc(subjects(), func(s subject) bool { return s.dear }))
}
