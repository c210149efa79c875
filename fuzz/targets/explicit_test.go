package targets

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// TestExplicit holds that an input that says all of it itself makes the choices
// of the one that drew them, of dear designs as well.
func TestExplicit(t *testing.T) {
	dear := 0
	for i := range 4000 {
		input := []byte{byte(i), byte(i >> 8), program.More}
		drawn, said := program.New(input), program.New(program.Explicit(input))
		drawn.Continue()
		said.Continue()
		one, other := pickInstance(drawn), pickInstance(said)
		require.Equal(t, one.Name, other.Name, "%x", input)
		if one.dear {
			dear++
		}
		require.Equal(t, drawn.Rest(), said.Rest())
	}
	require.NotZero(t, dear)
}

// TestDearCrashersShrink makes an input smaller that draws what fails in a dear
// design only: what is left still chooses it.
func TestDearCrashersShrink(t *testing.T) {
	failing := errors.New("a long payload")
	run := func(input []byte) error {
		p := program.New(input)
		p.Continue()
		if s := pickInstance(p); s.dear && len(s.seed(p))+len(s.payload(p)) > 40 {
			return failing
		}
		return nil
	}
	input := []byte{0, 0, program.More}
	for run(input) == nil {
		input[1]++
		if input[1] == 0 {
			input[0]++
		}
	}
	t.Logf("the input is %x", input)
	small := harness.Shrink(program.Explicit(input), 2000, func(candidate []byte) bool {
		return bytes.Equal(program.Explicit(candidate), candidate) && run(candidate) != nil
	})
	require.Less(t, len(small), 16, "%x", small)
	require.Equal(t, byte(program.Dear), small[len(small)-1])
	require.False(t, pickInstance(program.New(small[:len(small)-1])).dear)
}
