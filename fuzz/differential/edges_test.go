package differential_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/differential"
)

// edges compares two designs by edges. It returns the tally and the notes of disagreements.
func edges(t *testing.T, here, there codecs.Design) (tally differential.Tally, notes []string) {
	t.Helper()
	tally, err := differential.Run{Here: here, There: there, Seed: seed, Count: count, Edges: true,
		Found: func(d differential.Disagreement) error {
			notes = append(notes, d.Note)
			return nil
		}}.Do()
	require.NoError(t, err)
	return tally, notes
}

// TestEdgesLeaveADesignAlone presents edges to a design and itself, for one design in twenty.
func TestEdgesLeaveADesignAlone(t *testing.T) {
	for i, d := range catalog.Variants() {
		if i%20 != 9 || d.Over != "" {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			tally, notes := edges(t, d, d)
			require.Empty(t, notes)
			require.GreaterOrEqual(t, tally.Tokens, 2000)
			require.NotZero(t, tally.Refused[codecs.Malformed])
		})
	}
}

// A depth refuses states whose JSON is nested too deeply.
type depth struct {
	codecs.Scheme
	deepest int
}

func (s depth) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	state, err := s.Scheme.Verify(nil, token, b)
	deep := 0
	for _, c := range state {
		if c == '[' {
			deep++
		}
	}
	if err == nil && json.Valid(state) && deep > s.deepest {
		return dst, codecs.Reject(codecs.Malformed, "depth")
	}
	return append(dst, state...), err
}

// TestEdgesFindALimit is the control: two parsers whose limits differ by one level, which
// random tokens do not reveal.
func TestEdgesFindALimit(t *testing.T) {
	sound, _ := broken(t, fault{verify: same})
	limited := func(deepest int) codecs.Design {
		d := sound
		d.NewScheme = func(c codecs.Config) (codecs.Scheme, error) {
			s, err := sound.NewScheme(c)
			return depth{s, deepest}, err
		}
		return d
	}
	_, notes := edges(t, limited(512), limited(511))
	require.NotEmpty(t, notes)
	_, notes = edges(t, limited(512), limited(math.MaxInt))
	require.NotEmpty(t, notes)
	_, random := compare(t, limited(512), limited(511))
	require.Empty(t, random)
}
