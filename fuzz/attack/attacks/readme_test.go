package attacks_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/testenv"
)

// TestPageQuotesTheWorkers checks that the README quotes the worker files that the tests run.
func TestPageQuotesTheWorkers(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	for _, name := range []string{"worker.py", "worker.ts"} {
		source, err := os.ReadFile("../testdata/" + name)
		require.NoError(t, err)
		require.Contains(t, string(page), string(source), "%s is not what the page quotes", name)
	}
}

// TestExampleWorkersStand attacks the workers of the README over the protocol.
func TestExampleWorkersStand(t *testing.T) {
	testenv.SkipShort(t)
	for _, command := range [][]string{
		{"python3", "../testdata/worker.py"},
		{"node", "--experimental-strip-types", "--no-warnings", "../testdata/worker.ts"},
	} {
		t.Run(command[0], func(t *testing.T) {
			requireRuns(t, command)
			s, end, err := attack.Dial(command, func(l worker.Limits) (*worker.Client, error) {
				return worker.Dial(worker.Command{Args: command}, l)
			})
			require.NoError(t, err)
			defer end() //nolint:errcheck // it is over either way
			got := runAttacks(t, s, seed, small(), "ENC", "FRM", "KEY-07", "RES-02", "RES-07")
			for _, cell := range got.Results {
				require.False(t, cell.Accuses(), "%s refutes %s: %s", cell.Attack, cell.Property, cell.Issue)
			}
		})
	}
}

// requireRuns skips the test if the language is not installed, or is too old for the worker.
func requireRuns(t *testing.T, command []string) {
	t.Helper()
	path, err := exec.LookPath(command[0])
	if err != nil {
		testenv.Skip(t, "there is no %s", command[0])
	}
	run := exec.Command(path, command[1:]...)
	run.Stdin = strings.NewReader("")
	if out, err := run.CombinedOutput(); err != nil {
		testenv.Skip(t, "%s cannot run the worker: %s", command[0], strings.TrimSpace(string(out)))
	}
}
