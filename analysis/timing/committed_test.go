package timing_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/timing"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// TestCommittedRun checks that the controls of the reference run have the expected outcomes, and that no
// pair refutes a claim of steady timing. A design missing from the run is printed as skipped.
func TestCommittedRun(t *testing.T) {
	runs, err := runfile.Newest(filepath.Join("..", "..", "results"), runfile.Timing, 1)
	require.NoError(t, err)
	j, err := timing.Read(runs[0])
	require.NoError(t, err)
	require.False(t, j.Controls.Void(), "%v", j.Controls.Faults)
	require.Positive(t, j.Controls.Found)
	require.Positive(t, j.Controls.Clean)

	pairs := map[string][]string{}
	for _, v := range j.Verdicts {
		if v.Expect == runfile.Open && v.Property != "" {
			require.NotEqual(t, verdict.Refuted, v.Outcome, "%s: %s", v.Name(), v.Why)
			pairs[v.Subject] = append(pairs[v.Subject], v.Pair)
		}
	}
	measured := 0
	for _, d := range catalog.All() {
		if g, _ := d.Guarantee(codecs.SteadyTiming, nil); !g.Holds {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			if pairs[d.Name] == nil {
				testenv.Skip(t, "%s was not measured in %s: make leak measures it", d.Name, filepath.Base(runs[0]))
			}
			measured++
			require.True(t, slices.Contains(pairs[d.Name], "tag-ends") || slices.Contains(pairs[d.Name], "key-bytes"), "%v", pairs[d.Name])
		})
	}
	require.Positive(t, measured, "no design was measured")
}
