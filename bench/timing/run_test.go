package timing

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// brief is a configuration for a very short run.
func brief(dir string) Config {
	return Config{Dir: dir, Blocks: 10, Budget: time.Microsecond, Seed: 1, Stamp: map[string]string{"commit": "c"},
		precision: precision{clusters: 2, readings: 3}}
}

// TestEveryDesignIsProbed measures every rule with every design. It checks that each design has applicable
// pairs and that every file can be read back. A design that claims steady timing needs pairs about the
// key, about the tag if it is secret, and about the payload if it is confidential.
func TestEveryDesignIsProbed(t *testing.T) {
	testenv.SkipRace(t)
	designs := catalog.All()
	if testing.Short() {
		designs = everyEighth(designs)
	}
	c := brief(t.TempDir())
	measured, refutes := map[string]int{}, map[string]string{}
	require.NoError(t, Run(Designs(designs), c, func(s Step) {
		if s.Skipped == "" {
			measured[s.Subject]++
			refutes[s.Subject+" "+s.Pair] = s.Property
		}
	}))
	for _, d := range designs {
		require.GreaterOrEqual(t, measured[d.Name], 2*passCount, d.Name)
		if !holds(d, codecs.SteadyTiming) {
			continue
		}
		pairs := []string{"key-bytes"}
		if holds(d, codecs.SenderAuthenticated) {
			require.Empty(t, refutes[d.Name+" tag-ends"], "%s: its verifier has no secret", d.Name)
		} else {
			pairs = append(pairs, "tag-ends")
		}
		if holds(d, codecs.Confidentiality) {
			pairs = append(pairs, "payload-seal", "payload-unseal")
		}
		for _, pair := range pairs {
			require.Equal(t, string(codecs.SteadyTiming), refutes[d.Name+" "+pair], "%s %s", d.Name, pair)
		}
	}
	files, err := runfile.ReadSampleFiles(c.Dir)
	require.NoError(t, err)
	for _, f := range files {
		require.GreaterOrEqual(t, len(f.Data), c.precision.minBlocks(), f.FileName())
		require.Positive(t, f.ClockNs)
	}
}

// everyEighth returns the first of every eight designs.
func everyEighth(all []codecs.Design) []codecs.Design {
	var some []codecs.Design
	for eight := range slices.Chunk(all, 8) {
		some = append(some, eight[0])
	}
	return some
}

func holds(d codecs.Design, p codecs.Property) bool {
	g, _ := d.Guarantee(p, nil)
	return g.Holds
}

// TestRunIsResumed removes one file. A second run measures only that one again, and removes half-written
// files of a killed run.
func TestRunIsResumed(t *testing.T) {
	dir := t.TempDir()
	comparisons := []Comparison{SameClass("one"), SameClass("two")}
	run := func() (measured []string) {
		require.NoError(t, Run(comparisons, brief(dir), func(s Step) {
			require.Equal(t, len(comparisons)*passCount, s.Of)
			if s.Skipped == "" {
				measured = append(measured, s.FileName())
			}
		}))
		return measured
	}
	require.Len(t, run(), 4)
	require.Empty(t, run())
	require.NoError(t, os.Rename(dir+"/control-two.control.2.samples", dir+"/.control-two.control.2.samples.123"))
	require.Equal(t, []string{"control-two.control.2.samples"}, run())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 4)
}

func TestRunsAreNotMixed(t *testing.T) {
	c := brief(t.TempDir())
	comparisons := []Comparison{SameClass("one")}
	require.NoError(t, Run(comparisons, c, func(Step) {}))
	c.Stamp = map[string]string{"commit": "d"}
	require.ErrorContains(t, Run(comparisons, c, func(Step) {}), "other settings")
	require.Error(t, Run(nil, c, func(Step) {}))
}

// TestPlantedCauses checks without a clock that each control does what it says: the inputs of both classes
// have one length, and those of the comparers differ as they should.
func TestPlantedCauses(t *testing.T) {
	s := newSampler(1, fullPrecision)
	names := map[string]bool{}
	for _, c := range Controls() {
		require.False(t, names[c.Name()], c.Name())
		names[c.Name()] = true
		require.NotEqual(t, runfile.Open, c.Expect)
		set, err := c.prepare(s.random)
		require.NoError(t, err)
		for i := range set.a.inputs {
			require.Len(t, set.b.inputs[i], len(set.a.inputs[i]))
		}
		set.a.do(set.a.inputs[0])
		set.b.do(set.b.inputs[0])
	}
	require.Len(t, names, 17)
}

func TestEarlyExitIsACorrectComparison(t *testing.T) {
	v := newVerifier(newSampler(1, fullPrecision).random, 10, earlyExit)
	v.check(v.tag())
	require.Zero(t, v.refused)
	for place := range tagSize {
		v.check(v.wrongAt(newSampler(1, fullPrecision).random, place)[0])
		require.Equal(t, place+1, v.refused)
	}
}
