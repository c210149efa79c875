package target

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
	require.Equal(t, "abc", string(matter(program.New(raw.Bytes([]byte("abc")).Program()), nil)))
	var filled program.Writer
	// Recipe 1, with the fifth border and one byte more.
	filled.Uint16(301).Byte('x').Byte(10).Byte(4).Byte(5)
	require.Len(t, matter(program.New(filled.Program()), nil), borders[4]+1)
	require.Equal(t, "ab..c", string(pad([]byte("ab"), '.', []byte("c"), 5)))
	require.Equal(t, "abc", string(pad([]byte("ab"), '.', []byte("c"), 0)))
}

// TestSeedsMeanWhatTheySay holds that what is begun from is there as it is, and
// that any claims can be.
func TestSeedsMeanWhatTheySay(t *testing.T) {
	for _, target := range []Target{textTarget, insideTarget, claimsTarget, relationsTarget, sequencesTarget, contextsTarget, readingsTarget, primitivesTarget} {
		seeds, err := target.Seeds()
		require.NoError(t, err)
		for i := 0; i < len(seeds); i += 2 {
			require.Less(t, seeds[i][len(seeds[i])-1], byte(program.More), "%s: %q", target.Name, seeds[i])
			require.Equal(t, append(slices.Clone(seeds[i]), program.More), seeds[i+1])
		}
	}
	var w program.Writer
	claims := []byte("{\xff")
	require.Equal(t, claims, readers()[0].document(program.New(w.Byte(withLength).Bytes(claims).Byte(0).Program())))
}

// TestChoose names each by its number, and what is dear seldom.
func TestChoose(t *testing.T) {
	dear := func(i int) bool { return i == 2 }
	require.Equal(t, 1, choose(program.New([]byte{4}), 3, dear))
	require.Equal(t, 2, choose(program.New(meant(true, [][]byte{{2}})[0]), 3, dear))
	taken := 0
	for i := range 10 * rare {
		if choose(program.New([]byte{2, byte(i), byte(i >> 8)}), 3, dear) == 2 {
			taken++
		}
	}
	require.InDelta(t, 10, taken, 8)
	require.Equal(t, 2, choose(program.New([]byte{5}), 3, func(int) bool { return true }))
	require.True(t, slices.ContainsFunc(subjects(), func(s subject) bool { return s.dear }))
}
