package program_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/program"
)

func TestReadsWhatWasWritten(t *testing.T) {
	var w program.Writer
	w.Byte(7).Uint16(300).Pick(255, 256).Pick(999, 1000).Bytes([]byte("abc")).Raw([]byte("rest"))
	p := program.New(w.Program())
	require.Equal(t, byte(7), p.Byte())
	require.Equal(t, 300, p.Uint16())
	require.Equal(t, 255, p.Pick(256))
	require.Equal(t, 999, p.Pick(1000))
	require.Equal(t, "abc", string(p.Bytes(100)))
	require.False(t, p.Done())
	require.Equal(t, "rest", string(p.Rest()))
	require.True(t, p.Done())
}

func TestAnyInputIsAProgram(t *testing.T) {
	p := program.New(nil)
	require.True(t, p.Done())
	require.Zero(t, p.Byte())
	require.Zero(t, p.Uint16())
	require.Zero(t, p.Pick(1000))
	require.Empty(t, p.Bytes(10))
	require.Empty(t, p.Rest())

	p = program.New([]byte{0xff, 0xff, 1, 2})
	require.Equal(t, []byte{1, 2}, p.Bytes(100), "a length beyond the input")
	p = program.New([]byte{0, 3, 1, 2, 3})
	require.Empty(t, p.Bytes(2), "a length beyond the limit begins again at zero")
	require.Equal(t, []byte{1, 2, 3}, p.Take(9))
}

func TestContinue(t *testing.T) {
	goesOn := func(input ...byte) []byte {
		p := program.New(input)
		p.Continue()
		return p.Rest()
	}
	require.Equal(t, []byte{1, 2}, goesOn(1, 2))
	require.Empty(t, goesOn())
	one, other := goesOn(1, 3, program.More), goesOn(1, 2, program.More)
	require.Equal(t, one, goesOn(1, 3, program.More), "the same input is the same program")
	require.NotEqual(t, one[2:], other[2:])
	kept, cut := 0, 0
	for i := range byte(100) {
		switch drawn := goesOn(0xab, 0xcd, 0xef, i, program.More); {
		case bytes.HasPrefix(drawn, []byte{0xab, 0xcd, 0xef, i}):
			kept++
		case !bytes.HasPrefix(drawn, []byte{0xab, 0xcd}):
			cut++
		}
	}
	require.Greater(t, kept, 15, "of 100 that keep what the input says")
	require.Greater(t, cut, 30, "of 100 that keep little of it")
}

// TestExplicit checks that the explicit form of an input makes the same choices, draws
// no further ones, and is its own explicit form.
func TestExplicit(t *testing.T) {
	require.Equal(t, []byte{1, 2}, program.Explicit([]byte{1, 2}))
	seldom := 0
	for i := range 1000 {
		input := []byte{1, byte(i >> 7), 2, program.More + byte(i)%128}
		given := bytes.Clone(input)
		drawn := program.New(input)
		drawn.Continue()
		explicit := program.Explicit(input)
		said := program.New(explicit)
		said.Continue()
		require.Equal(t, drawn.Seldom(), said.Seldom())
		require.Equal(t, drawn.Rest(), said.Rest())
		require.Equal(t, explicit, program.Explicit(explicit))
		require.Equal(t, given, input)
		if drawn.Seldom() {
			seldom++
		}
	}
	require.NotZero(t, seldom)
}

func TestFew(t *testing.T) {
	require.Equal(t, 0, program.New(nil).Few(16))
	require.Equal(t, 1, program.New([]byte{1}).Few(16))
	require.Equal(t, 16, program.New([]byte{15}).Few(16))
}

// TestSeldom checks that Seldom follows the mark of an input, or chance if the input continues.
func TestSeldom(t *testing.T) {
	hits := 0
	for i := range 3200 {
		input := []byte{byte(i), byte(i >> 8)}
		require.False(t, program.New([]byte{byte(i), byte(i>>8) % program.Dear}).Seldom())
		said := program.New(append(input, program.Dear))
		require.True(t, said.Seldom())
		said.Continue()
		require.Equal(t, input, said.Rest(), "the mark is no choice, and nothing is drawn")
		p := program.New(append(input, program.More))
		before := p.Seldom()
		p.Byte()
		require.Equal(t, before, p.Seldom(), "what was read makes no difference")
		if before {
			hits++
		}
	}
	require.InDelta(t, 100, hits, 40)
}

func TestResultsDoNotReachFurther(t *testing.T) {
	input := []byte{0, 1, 'a', 'b'}
	b := program.New(input).Bytes(10)
	_ = append(b, 'x')
	require.Equal(t, "b", string(input[3:]))
}
