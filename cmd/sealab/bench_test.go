package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/bench"
	"sealab/codecs/sdk"
	"sealab/internal/runfile"
)

// TestRunsHaveTheirReport checks that no folder is left if measurements cannot
// be reported.
func TestRunsHaveTheirReport(t *testing.T) {
	stamp, err := runfile.NewStamp(time.Unix(1_795_132_800, 0), "here")
	require.NoError(t, err)
	result := &bench.Result{
		Subjects:     []runfile.Subject{{Name: "a", Role: runfile.RoleBaseline}},
		Measurements: []bench.Measurement{{Subject: "a", Op: runfile.Seal, Size: 64, N: 1, NsPerOp: 10}},
	}
	out := t.TempDir()
	run, err := writeBench(result, out, stamp)
	require.NoError(t, err)
	for _, name := range []string{runfile.BenchFile, runfile.SubjectsFile, runfile.ReportFile} {
		text, err := os.ReadFile(run.Path + "/" + name)
		require.NoError(t, err)
		require.NotEmpty(t, text)
	}

	result.Measurements[0].Subject = "unlisted"
	out = t.TempDir()
	_, err = writeBench(result, out, stamp)
	require.ErrorContains(t, err, `"unlisted" is not in subjects.json`)
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestMirroredDesignsAreMeasuredOnce checks the designs of all SDKs, installed
// or not.
func TestMirroredDesignsAreMeasuredOnce(t *testing.T) {
	sdks, err := sdk.Mirrors("../..")
	require.NoError(t, err)
	require.NotEmpty(t, sdks)
	subjects := bench.Subjects()
	for _, s := range sdks {
		subjects, err = withMirrored(subjects, s.Mirrors)
		require.NoError(t, err, s.Name)
	}
	count := map[string]int{}
	for _, s := range subjects {
		count[s.Name]++
		require.Equal(t, 1, count[s.Name], s.Name)
	}
	for _, s := range sdks {
		require.NotZero(t, count[s.Mirrors], s.Name)
	}
}
