package conformance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/conformance"
	"sealab/internal/testenv"
)

const revision = "2026-07-28"

// TestConformance runs the suite against the example server as a user runs it.
func TestConformance(t *testing.T) {
	node, err := filepath.Abs(filepath.Join("node_modules", ".bin", "node"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join("node_modules", ".installed")); err != nil {
		testenv.Skip(t, "the conformance suite is not installed: make conformance")
	}
	expected, err := ExpectedFailures("expected-failures.yml")
	require.NoError(t, err)
	results := t.TempDir()
	suite := exec.Command(node, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"),
		"server", "--url", conformance.Build(t).HTTP(t, "--conformance"), "--requirements", revision,
		"--expected-failures", "expected-failures.yml", "--output-dir", results)
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)

	scenarios, err := Read(results)
	require.NoError(t, err)
	counts, rounds := map[Verdict]int{}, 0
	for _, s := range scenarios {
		verdict := s.Judge(expected)
		counts[verdict]++
		t.Logf("%-48s %2d checks  %s", s.Name, len(s.Checks), verdict)
		if strings.HasPrefix(s.Name, "input-required-result-") {
			require.Equal(t, Passed, verdict, "%s\n%s", s.Name, s.Problems())
			rounds++
		}
		require.NotContains(t, []Verdict{Failed, Stale}, verdict, "%s\n%s", s.Name, s.Problems())
	}
	require.Equal(t, 14, rounds, "scenarios input-required-result-*")
	require.Equal(t, len(expected), counts[Expected], "every expected failure was run")
	t.Logf("%d scenarios of revision %s: %v", len(scenarios), revision, counts)
}

// TestJudge shows every verdict to be reached.
func TestJudge(t *testing.T) {
	checks := func(statuses ...string) (all []Check) {
		for _, s := range statuses {
			all = append(all, Check{ID: "c", Status: s, Message: "m"})
		}
		return all
	}
	for _, c := range []struct {
		statuses []string
		expected []string
		want     Verdict
	}{
		{[]string{"SUCCESS", "INFO", "SKIPPED"}, nil, Passed},
		{[]string{"SUCCESS", "FAILURE"}, nil, Failed},
		{[]string{"SUCCESS", "WARNING"}, nil, Failed},
		{[]string{"SUCCESS", "news to us"}, nil, Failed},
		{[]string{"FAILURE"}, []string{"other"}, Failed},
		{[]string{"FAILURE"}, []string{"it"}, Expected},
		{[]string{"SUCCESS"}, []string{"it"}, Stale},
		{[]string{"SKIPPED"}, nil, Skipped},
		{nil, nil, Skipped},
	} {
		s := Scenario{Name: "it", Checks: checks(c.statuses...)}
		require.Equal(t, c.want, s.Judge(c.expected), "%v", c.statuses)
	}
}

func TestReadNothing(t *testing.T) {
	_, err := Read(t.TempDir())
	require.ErrorContains(t, err, "no results")
}
