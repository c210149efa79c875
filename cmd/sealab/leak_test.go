package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/taint"
	"sealab/codecs/catalog"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

var taintFlag = flag.Bool("taint", false, "run every design under valgrind; takes some minutes")

// TestTaintOutcomes runs every design under valgrind. The designs are sound, so
// no refusal may depend on a secret. The controls must have their expected
// outcomes, and every reason in the table must be used.
func TestTaintOutcomes(t *testing.T) {
	if !*taintFlag {
		testenv.Skip(t, "valgrind takes minutes: run make taint")
	}
	if _, err := exec.LookPath("valgrind"); errors.Is(err, exec.ErrNotFound) {
		testenv.Skip(t, "valgrind is not installed")
	}
	dir := filepath.Join(t.TempDir(), "taint")
	var stdout, stderr strings.Builder
	status := run([]string{"leak", "taint", dir}, strings.NewReader(""), &stdout, &stderr)
	j, err := taint.Read(dir)
	require.NoError(t, err, stderr.String())
	require.Empty(t, j.Faults)
	require.Empty(t, j.Unused, "reasons that no design needs")
	outcomes := map[string]*taint.Result{}
	controls := map[runfile.Expectation]int{}
	for _, v := range j.Verdicts {
		outcomes[v.Subject] = v
		controls[v.Expect]++
	}
	for _, d := range catalog.All() {
		require.Contains(t, outcomes, d.Name)
		v := outcomes[d.Name]
		require.Equal(t, verdict.NotRefuted, v.Outcome, "%s: %s: %v", d.Name, v.Why, v.Against)
	}
	require.Positive(t, controls[runfile.Leaks])
	require.Positive(t, controls[runfile.Clean])
	require.Equal(t, cli.OK, status, stderr.String())
}

// TestTaintExitStatus judges existing logs: of a sound design, of a refuted
// one, and of one that could not run.
func TestTaintExitStatus(t *testing.T) {
	recorded := filepath.Join("..", "..", "analysis", "taint", "testdata")
	for name, c := range map[string]struct {
		change func(*runfile.Log)
		want   int
	}{
		"sound":        {func(*runfile.Log) {}, cli.OK},
		"refuted":      {branchOnTag, cli.Refuted},
		"did not run":  {func(l *runfile.Log) { l.Failed = "it was killed" }, cli.Fault},
		"no controls":  {nil, cli.Fault},
		"control lost": {func(l *runfile.Log) { l.Expect, l.Line = runfile.Leaks, "a line that is not there" }, cli.Fault},
	} {
		logs, err := runfile.ReadTaintLogs(recorded)
		require.NoError(t, err)
		dir := t.TempDir()
		for _, l := range logs {
			if c.change == nil && l.Expect != runfile.Open {
				continue
			}
			if c.change != nil && l.Expect == runfile.Open {
				c.change(l)
			}
			require.NoError(t, l.Write(dir))
		}
		var stdout, stderr strings.Builder
		status := run([]string{"leak", "taint", "--judge-only", dir}, strings.NewReader(""), &stdout, &stderr)
		require.Equal(t, c.want, status, "%s: %s%s", name, stdout.String(), stderr.String())
	}
}

// branchOnTag changes a log so that the refusal branches on a comparison that
// stops early.
func branchOnTag(l *runfile.Log) {
	for i := range l.Reports {
		l.Reports[i].Stack[0].Tests = nil
	}
}

// TestTaintNeedsValgrind runs the command with no program in PATH.
func TestTaintNeedsValgrind(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var stdout, stderr strings.Builder
	dir := filepath.Join(t.TempDir(), "taint")
	require.Equal(t, cli.Fault, run([]string{"leak", "taint", dir}, strings.NewReader(""), &stdout, &stderr))
	require.Contains(t, stderr.String(), "not tested: valgrind is not installed; install it with: apt-get install valgrind")
	_, err := os.Stat(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
