package throughput_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/throughput"
	"sealab/internal/runfile"
)

// writeRun writes a run of the subjects and operations on a machine. It returns its folder.
func writeRun(t *testing.T, root, name, host string, subjects []runfile.Subject, ops []runfile.Op) string {
	t.Helper()
	text := "host: " + host + "\n\n"
	for _, s := range subjects {
		for _, op := range ops {
			text += fmt.Sprintf("Benchmark%s 1000 10 ns/op\n", runfile.Name(s.Name, op, 64))
		}
	}
	dir := filepath.Join(root, runfile.Bench, name)
	require.NoError(t, runfile.WriteBench(dir, []byte(text), nil, subjects))
	return dir
}

var everyRole = []runfile.Subject{
	{Name: "d", Role: runfile.RoleDesign}, {Name: "d-claims", Role: runfile.RoleScheme}, {Name: "d-again", Role: runfile.RoleRepeat, Repeats: "d"},
	{Name: "bare", Role: runfile.RoleBaseline}, {Name: "lib", Role: runfile.RoleLibrary},
}

// TestPartsOfRunsAreLeftOut finds the runs of every design among runs of some subjects or operations.
func TestPartsOfRunsAreLeftOut(t *testing.T) {
	root := t.TempDir()
	want := []string{
		writeRun(t, root, "2025", "here", everyRole, runfile.Ops()),
		writeRun(t, root, "2026", "there", everyRole, runfile.Ops()),
	}
	writeRun(t, root, "2027", "here", everyRole[:2], runfile.Ops())
	writeRun(t, root, "2028", "here", everyRole, runfile.Ops()[:2])
	whole, err := throughput.Whole(root)
	require.NoError(t, err)
	require.Equal(t, want, paths(whole))
	earlier, same := throughput.Earlier(whole)
	require.False(t, same)
	require.Equal(t, want[0], earlier.Path)

	writeRun(t, root, "2029", "here", everyRole, runfile.Ops())
	whole, err = throughput.Whole(root)
	require.NoError(t, err)
	earlier, same = throughput.Earlier(whole)
	require.True(t, same)
	require.Equal(t, want[0], earlier.Path)

	none, err := throughput.Whole(filepath.Join(root, "nowhere"))
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestCommittedRunsAreWhole checks that sealab compare and the site find the committed runs.
func TestCommittedRunsAreWhole(t *testing.T) {
	results := filepath.Join("..", "..", "results")
	runs, err := runfile.Runs(results, runfile.Bench)
	require.NoError(t, err)
	whole, err := throughput.Whole(results)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(whole), 2)
	require.Subset(t, runs, paths(whole))
}

func paths(runs []*throughput.Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.Path)
	}
	return all
}
