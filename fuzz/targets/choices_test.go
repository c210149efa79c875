package targets

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// TestSeedsAreExplicit checks that each seed exists both in explicit form and with drawn
// choices after it.
func TestSeedsAreExplicit(t *testing.T) {
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
	require.Equal(t, claims, claimsReaders()[0].document(program.New(w.Byte(withLength).Bytes(claims).Byte(0).Program())))
}

// A thing is an element to choose, which may be costly.
type thing struct {
	name string
	dear bool
}

func (t thing) isDear() bool { return t.dear }

// TestChoose checks that a thing is chosen by its number, and a costly thing rarely.
func TestChoose(t *testing.T) {
	all := []thing{{name: "a"}, {name: "b"}, {"dear", true}}
	chosen := func(input ...byte) string { return chooseFrom(program.New(input), all).name }
	require.Equal(t, "b", chosen(4))
	require.Equal(t, "dear", chosen(2, program.Dear))
	require.Equal(t, "b", chosen(1, program.Dear))
	taken := map[string]int{}
	for i := range 3200 {
		taken[chosen(byte(i%64*3+2), byte(i), byte(i>>8), program.More)]++
	}
	require.InDelta(t, 100, taken["dear"], 40)
	require.Greater(t, taken["a"], 500, "others stand in for it in turn")
	require.Greater(t, taken["b"], 500)
	require.Equal(t, "dear", chooseFrom(program.New(nil), all[2:]).name, "there is no other")
}

// TestSeedsAreSeldomDear checks that most mutations of seeds stay cheap.
func TestSeedsAreSeldomDear(t *testing.T) {
	dear := 0
	for _, s := range instances() {
		if s.dear {
			dear++
		}
	}
	require.NotZero(t, dear)
	for _, target := range []Target{textTarget, insideTarget, relationsTarget, sequencesTarget} {
		seeds, err := target.Seeds()
		require.NoError(t, err)
		marked := 0
		for _, seed := range seeds {
			if seed[len(seed)-1] == program.Dear {
				marked++
			}
		}
		require.Equal(t, dear, marked, target.Name)
	}
}

// BenchmarkDesigns runs drawn inputs of the targets claims and contexts for each design that is
// not costly. The speed of a target is the mean over all.
func BenchmarkDesigns(b *testing.B) {
	run := func(b *testing.B, target Target, i int, s *instance) {
		if s.dear {
			return
		}
		random := rand.New(rand.NewPCG(1, 2))
		inputs := make([][]byte, 300)
		for k := range inputs {
			inputs[k] = []byte{byte(i)} // chooses the design
			for range 63 {
				inputs[k] = append(inputs[k], byte(random.Uint32()))
			}
		}
		b.Run("target="+target.Name+"/design="+s.Name, func(b *testing.B) {
			for k := 0; b.Loop(); k++ {
				require.NoError(b, target.Run(inputs[k%len(inputs)]))
			}
		})
	}
	for i, r := range claimsReaders() {
		run(b, claimsTarget, i, r.instance)
	}
	for i, s := range expiringSchemes() {
		run(b, contextsTarget, i, s.instance)
	}
}

// TestExplicit checks that the explicit form of an input makes the choices that the input drew,
// for costly designs too.
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

// TestDearCrashersShrink minimizes an input whose drawn choices fail only in a costly design.
// The result must still choose such a design.
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
