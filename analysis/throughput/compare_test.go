package throughput_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"sealab/analysis/throughput"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

func compare(t *testing.T, older, newer simulation, seed uint64) *throughput.Comparison {
	t.Helper()
	c, err := throughput.Compare(older.write(t, seed), newer.write(t, seed+1000), "*")
	require.NoError(t, err)
	return c
}

// names returns the names and units of changes.
func names(changes []throughput.Change) []string {
	var all []string
	for _, c := range changes {
		all = append(all, c.Name+" "+c.Unit)
	}
	return all
}

func TestTwoRunsOfTheSameDoNotRegress(t *testing.T) {
	testenv.SkipRace(t)
	runs, regressed := 100, 0
	if testenv.Sample() {
		runs = 20
	}
	for seed := range uint64(runs) {
		if len(compare(t, quiet, quiet, seed).Regressed()) > 0 {
			regressed++
		}
	}
	require.LessOrEqual(t, regressed, runs/20)
}

func TestAPlantedRegressionIsFound(t *testing.T) {
	slower := quiet
	slower.slow = map[throughput.Place]float64{
		{Subject: "sig", Op: runfile.Seal, Size: 8192}:  1.15,
		{Subject: "warm", Op: runfile.Seal, Size: 8192}: 0.85,
		{Subject: "web", Op: runfile.Seal, Size: 8192}:  1.5,
	}
	c := compare(t, quiet, slower, 7)
	require.Equal(t, []string{"sig seal, 8 KiB sec/op"}, names(c.Regressed()))

	var b strings.Builder
	require.NoError(t, c.Report(&b, 0, 0))
	require.Regexp(t, `(?m)^  sig seal, 8 KiB +time .* \+1\d\.\d %  +regressed$`, b.String())
	require.Regexp(t, `(?m)^  warm seal, 8 KiB +time .*  +improved$`, b.String())
	require.Regexp(t, `(?m)^  web seal, 8 KiB +time .*  +not ours$`, b.String())
}

// TestASlowerMachineIsNoRegression slows everything down, including the bare primitives. Their drift then
// bounds what counts as a change.
func TestASlowerMachineIsNoRegression(t *testing.T) {
	slower := quiet
	slower.whole = 1.3
	c := compare(t, quiet, slower, 8)
	require.Greater(t, c.Drift, 0.2)
	require.LessOrEqual(t, len(c.Regressed()), 1)
	slower.slow = map[throughput.Place]float64{{Subject: "far", Op: runfile.Unseal, Size: 64}: 2}
	require.Contains(t, names(compare(t, quiet, slower, 8).Regressed()), "far unseal, 64 B sec/op")
}

// TestAnotherMachineIsNotTested makes everything three times slower. Counts are judged and times are not.
func TestAnotherMachineIsNotTested(t *testing.T) {
	other := quiet
	other.whole = 3
	other.allocs = map[string]int{"far": 3}
	c := compare(t, quiet, other, 8)
	require.False(t, c.Timed())
	for _, name := range names(c.Regressed()) {
		require.Contains(t, name, "allocs/op")
	}
	require.NotEmpty(t, c.Regressed())
	var b strings.Builder
	require.NoError(t, c.Report(&b, 0, 0))
	require.Contains(t, b.String(), "not tested: the times")
	require.NotContains(t, b.String(), "sec/op")
	require.True(t, compare(t, quiet, quiet, 8).Timed())
}

func TestCountsRegressWithoutNoise(t *testing.T) {
	fatter := quiet
	fatter.size = map[string]int{"far": 1}
	fatter.allocs = map[string]int{"enc": 1, "near": 4}
	for _, name := range names(compare(t, quiet, fatter, 9).Regressed()) {
		require.Regexp(t, `^far .* token-B$|^enc .* allocs/op$`, name)
	}
	require.Len(t, compare(t, quiet, fatter, 9).Regressed(), 16)
	require.Empty(t, compare(t, fatter, quiet, 9).Regressed())
}

func TestTooFewRoundsAreNotTested(t *testing.T) {
	short := quiet
	short.rounds = 3
	c := compare(t, short, short, 10)
	require.Positive(t, c.Blind())
	var b strings.Builder
	require.NoError(t, c.Report(&b, 0, 0))
	require.Contains(t, b.String(), "not tested: ")
	require.Zero(t, compare(t, quiet, quiet, 10).Blind())
}

func TestOtherMachinesAreWarnedOf(t *testing.T) {
	other := quiet
	other.stamp = " elsewhere"
	var b strings.Builder
	require.NoError(t, compare(t, quiet, other, 11).Report(&b, 0, 0))
	require.Contains(t, b.String(), `warning: the runs differ in cpu: "simulated" and "simulated elsewhere"`)
}

// TestAnyBenchmarkFileCompares compares files that are not runs of this laboratory. All their measurements
// count, without a noise floor.
func TestAnyBenchmarkFileCompares(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "bench.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	line := func(ns string, n int) string { return strings.Repeat("BenchmarkX 100 "+ns+" ns/op\n", n) }
	older, newer := write(line("10", 8)+"BenchmarkGone 1 1 ns/op\n"), write(line("11", 8))
	c, err := throughput.Compare(older, newer, "*")
	require.NoError(t, err)
	require.Len(t, c.Regressed(), 1)
	require.Len(t, c.Alone, 1)
	c, err = throughput.Compare(newer, older, "*")
	require.NoError(t, err)
	require.Empty(t, c.Regressed())

	_, err = throughput.Compare(older, write("BenchmarkElse 1 1 ns/op\n"), "*")
	require.ErrorContains(t, err, "no measurement in common")
	_, err = throughput.Compare(older, write("no benchmark at all\n"), "*")
	require.ErrorContains(t, err, "there is none")
	_, err = throughput.Compare(older, filepath.Join(t.TempDir(), "nowhere"), "*")
	require.ErrorContains(t, err, "nowhere")
}

// TestFilter compares only the measurements of one operation and size.
func TestFilter(t *testing.T) {
	slower := quiet
	slower.slow = map[throughput.Place]float64{
		{Subject: "sig", Op: runfile.Seal, Size: 8192}:   1.15,
		{Subject: "sig", Op: runfile.Unseal, Size: 8192}: 1.15,
	}
	older, newer := quiet.write(t, 1), slower.write(t, 2)
	c, err := throughput.Compare(older, newer, "/op:seal /size:8192 .unit:sec/op")
	require.NoError(t, err)
	require.Len(t, c.Changes, len(simulated))
	require.Equal(t, []string{"sig seal, 8 KiB sec/op"}, names(c.Regressed()))

	_, err = throughput.Compare(older, newer, "/op:nope")
	require.ErrorContains(t, err, "no measurement in common")
	_, err = throughput.Compare(older, newer, "/op:(")
	require.ErrorContains(t, err, `filter "/op:("`)
}

// TestChangesAreSortedAndCut checks a comparison with many changes of different sizes.
func TestChangesAreSortedAndCut(t *testing.T) {
	slower := quiet
	slower.slow = map[throughput.Place]float64{}
	for i, s := range simulated {
		slower.slow[throughput.Place{Subject: s.Name, Op: runfile.Seal, Size: 64}] = 1.2 + float64(i)/10
	}
	c := compare(t, quiet, slower, 3)
	last := math.Inf(1)
	for _, ch := range c.Regressed() {
		require.LessOrEqual(t, ch.Share(), last, "sorted by effect")
		last = ch.Share()
	}
	var b strings.Builder
	require.NoError(t, c.Report(&b, 5, 80))
	require.LessOrEqual(t, strings.Count(b.String(), "\n"), 60)
	require.Contains(t, b.String(), "more: --all lists them")
	require.Regexp(t, `(?m)^  seal +time +\+\d+\.\d % `, b.String(), "geometric means of an operation")
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "  ") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 81, line)
		}
	}
}

// TestFailingWriter checks that Report returns the writer's error.
func TestFailingWriter(t *testing.T) {
	full := errors.New("no space left")
	require.ErrorIs(t, compare(t, quiet, quiet, 1).Report(failing{full}, 0, 0), full)
}

// failing is a writer that fails.
type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }
