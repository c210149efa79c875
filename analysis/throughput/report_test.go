package throughput_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/throughput"
	"sealab/internal/runfile"
)

// ratio returns the only ratio of a place with a relation.
func ratio(t *testing.T, ratios []throughput.Ratio, why runfile.Relation, of throughput.Place) throughput.Ratio {
	t.Helper()
	var found []throughput.Ratio
	for _, r := range ratios {
		if r.Relation == why && r.Of == of {
			found = append(found, r)
		}
	}
	require.Len(t, found, 1, "%s of %v", why, of)
	return found[0]
}

func TestRatiosAreThoseOfTheTrueTimes(t *testing.T) {
	ratios, err := quiet.load(t, 1).Ratios()
	require.NoError(t, err)
	for _, c := range []struct {
		why  runfile.Relation
		of   string
		to   string
		want float64
	}{
		{runfile.OverBaseline, "enc", "bare-x", 1.2},
		{runfile.OverBaseline, "sig", "bare-y", 200.0 / 190},
		{runfile.OverDesign, "warm", "enc", 1.25},
		{runfile.OverOurs, "near", "enc", 2},
		{runfile.OverOurs, "web", "sig", 10},
		{runfile.OverOurs, "abroad", "far", 5},
		{runfile.OverItself, "enc-again", "enc", 1},
		{runfile.OverCodec, "enc-claims", "enc", 700.0 / 120},
		{runfile.OverBaseline, "enc-claims", "bare-claims", 1.4},
		{runfile.OverOurs, "slack-claims", "enc-claims", 6},
	} {
		got := ratio(t, ratios, c.why, throughput.Place{Subject: c.of, Op: runfile.Seal, Size: 64})
		require.Equal(t, c.to, got.To.Subject)
		require.InEpsilon(t, c.want, got.Point, 0.01, "%s / %s", c.of, c.to)
		require.False(t, got.Excludes(c.want), "%s / %s: %v", c.of, c.to, got.Interval)
		require.Less(t, got.Hi/got.Lo, 1.1)
	}
	ring := ratio(t, ratios, runfile.OverRing, throughput.Place{Subject: "enc", Op: runfile.UnsealRing, Size: 64})
	require.Equal(t, throughput.Place{Subject: "enc", Op: runfile.Unseal, Size: 64}, ring.To)

	share, cells := throughput.Noise(ratios)
	require.Equal(t, 4, cells, "seal and unseal at two sizes")
	require.Less(t, share, 0.01)
}

func TestThresholds(t *testing.T) {
	s := quiet
	s.slow = map[throughput.Place]float64{
		{Subject: "enc", Op: runfile.UnsealRing, Size: 64}:  1.3,
		{Subject: "far", Op: runfile.UnsealRing, Size: 64}:  1000, // a format without key IDs
		{Subject: "enc-claims", Op: runfile.Seal, Size: 64}: 1.3,
	}
	s.allocs = map[string]int{"sig": 2, "far": 9}
	run := s.load(t, 2)
	ratios, err := run.Ratios()
	require.NoError(t, err)
	missed := map[string]float64{}
	for _, v := range run.Checks(ratios) {
		if !v.Reached() {
			missed[v.Of.String()+" / "+v.To.Subject] = v.Short()
			require.True(t, v.Sure())
		}
	}
	require.Len(t, missed, 10)
	require.InDelta(t, 1.3*700/120/6-1, missed["enc-claims seal, 64 B / enc"], 0.01)
	require.InDelta(t, 1.3*1.4/1.5-1, missed["enc-claims seal, 64 B / bare-claims"], 0.01)
	require.InDelta(t, 1-6/1.3/5, missed["slack-claims seal, 64 B / enc-claims"], 0.01)
	require.InDelta(t, 1-2.0/3, missed["abroad seal, 8 KiB / far"], 0.01, "an SDK at 2 of at least 3")
	require.InDelta(t, 1-2.5/3, missed["overseas seal, 8 KiB / far"], 0.01, "a faster SDK stands for itself alone")
	require.InDelta(t, 1.3/1.2-1, missed["enc unseal-ring1000, 64 B / enc"], 0.01)
	require.InDelta(t, 0.6, missed["near seal, 64 B / enc"], 0.01, "the fastest library, at 2 of at least 5")
	require.InDelta(t, 0.6, missed["near unseal, 64 B / enc"], 0.01)

	var allocating []string
	for _, p := range run.Allocating() {
		allocating = append(allocating, p.Subject)
	}
	require.Contains(t, allocating, "sig")
	require.Contains(t, allocating, "far", "a scheme without a stated reason")
}

func TestReportSaysAllOfIt(t *testing.T) {
	var b strings.Builder
	require.NoError(t, quiet.load(t, 3).Report(&b, 0))
	text := b.String()
	for _, want := range []string{
		"12 rounds, ", "noise floor 0.", "of 4 cells", "seal, 64 B", "seal, 8 KiB", "refuse-tag",
		"× baseline", "× enc", "fastest library seal / enc", "missed: near seal / enc, 64 B", "at least 5: ",
		"bare-x itself would be at 2.4", "no design allocates without a stated reason", "114       +50",
	} {
		require.Contains(t, text, want)
	}
}

func TestReportWarnsOfARestlessMachine(t *testing.T) {
	const warning = "not a quiet machine"
	var b strings.Builder
	require.NoError(t, quiet.load(t, 4).Report(&b, 0))
	require.NotContains(t, b.String(), warning)
	s := quiet
	s.slow = map[throughput.Place]float64{{Subject: "enc-again", Op: runfile.Seal, Size: 64}: 1.08}
	require.NoError(t, s.load(t, 4).Report(&b, 0))
	require.Contains(t, b.String(), warning)
}

func TestReportOfTooFewRounds(t *testing.T) {
	s := quiet
	s.rounds = 2
	var b strings.Builder
	require.NoError(t, s.load(t, 3).Report(&b, 0))
	require.Contains(t, b.String(), "[no interval]")
}

func TestLoadRefuses(t *testing.T) {
	good := simulation{rounds: 2}.text(1)
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "there is none"},
		"not a benchmark":  {"BenchmarkToken 12 nonsense\n", ":1: "},
		"a line lost":      {strings.Join(lines[:len(lines)-2], ""), "once in every round"},
		"unknown subject":  {strings.ReplaceAll(good, "design=near", "design=nobody"), `"nobody" is not in subjects.json`},
		"unknown op":       {strings.ReplaceAll(good, "op=seal", "op=sael"), `"sael" is not an operation`},
		"no size":          {strings.ReplaceAll(good, "size=64", "size=x"), `"x" is not a payload size`},
		"no time":          {strings.ReplaceAll(good, "ns/op", "apples"), "want a positive ns/op"},
		"time is not a no": {strings.ReplaceAll(good, " 12 MB/s", " x MB/s"), ":13: "},
	} {
		dir := quiet.write(t, 1)
		path := filepath.Join(dir, runfile.BenchFile)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := throughput.Load(dir)
		require.ErrorContains(t, err, c.want, name)
		require.ErrorContains(t, err, path, name)
	}
	_, err := throughput.Load(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorContains(t, err, "nowhere")
}

// TestWriteLeavesNoHalves checks that no folder is left if measurements cannot be reported.
func TestWriteLeavesNoHalves(t *testing.T) {
	out := t.TempDir()
	run := quiet.load(t, 1)
	text := simulation{rounds: 2}.text(1)
	_, err := throughput.Write(filepath.Join(out, "bad"), []byte(strings.ReplaceAll(text, "design=near", "design=unlisted")), run.Subjects)
	require.ErrorContains(t, err, `"unlisted" is not in subjects.json`)
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, left)

	written, err := throughput.Write(filepath.Join(out, "good"), []byte(text), run.Subjects)
	require.NoError(t, err)
	for _, name := range []string{runfile.BenchFile, runfile.SubjectsFile, runfile.ReportFile} {
		content, err := os.ReadFile(filepath.Join(written.Path, name))
		require.NoError(t, err)
		require.NotEmpty(t, content)
	}
}

// TestSummaryIsOneScreen checks that the summary fits one screen and contains the designs and missed
// thresholds.
func TestSummaryIsOneScreen(t *testing.T) {
	var b strings.Builder
	require.NoError(t, quiet.load(t, 3).Summary(&b, 80))
	text := b.String()
	require.LessOrEqual(t, strings.Count(text, "\n"), 40)
	for _, want := range []string{"noise floor 0.", "8 KiB", "enc ", "thresholds reached", "missed: near seal / enc, 64 B"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "\n  bare-x ", "baselines are not listed")
	runs, err := runfile.Runs(filepath.Join("..", "..", "results"), runfile.Bench)
	require.NoError(t, err)
	for _, dir := range runs {
		run, err := throughput.Load(dir)
		require.NoError(t, err)
		b.Reset()
		require.NoError(t, run.Summary(&b, 80))
		require.LessOrEqual(t, strings.Count(b.String(), "\n"), 54, dir)
	}
	full := errors.New("no space left")
	require.ErrorIs(t, quiet.load(t, 3).Summary(failing{full}, 0), full)
	require.ErrorIs(t, quiet.load(t, 3).Report(failing{full}, 0), full)
}

// TestAEGISIsFasterThanGCM checks in the newest committed run that, from 1 KiB on, aegis-256 seals and
// unseals faster than aes-256-gcm.
func TestAEGISIsFasterThanGCM(t *testing.T) {
	newest, err := runfile.Newest(filepath.Join("..", "..", "results"), runfile.Bench, 1)
	require.NoError(t, err)
	run, err := throughput.Load(newest[0])
	require.NoError(t, err)
	both := func(subject string, size int) float64 {
		seal, sealed := run.Median(throughput.Place{Subject: subject, Op: runfile.Seal, Size: size})
		unseal, unsealed := run.Median(throughput.Place{Subject: subject, Op: runfile.Unseal, Size: size})
		require.True(t, sealed && unsealed, subject)
		return seal + unseal
	}
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10} {
		aegis, gcm := both("aegis-256", size), both("aes-256-gcm", size)
		t.Logf("%s: aegis-256 takes %.2f times as long as aes-256-gcm", throughput.Size(size), aegis/gcm)
		require.Less(t, aegis, gcm)
	}
}
