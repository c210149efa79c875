package example_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

const revision = "2026-07-28"

// suiteFolder is the folder into which "make conformance" installs the official conformance suite
// of the Model Context Protocol (npm @modelcontextprotocol/conformance 0.2.0-alpha.12).
const suiteFolder = "../conformance"

// TestConformance runs the suite against the example server as a user does. It runs every scenario
// that the revision requires, later ones, and those of extensions. The test is stricter than the
// suite's exit status: all checks of a scenario must succeed. The suite also passes warnings, and
// failures of scenarios that it does not score.
func TestConformance(t *testing.T) {
	node, err := filepath.Abs(filepath.Join(suiteFolder, "node_modules", ".bin", "node"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(suiteFolder, "node_modules", ".installed")); err != nil {
		testenv.Skip(t, "the conformance suite is not installed: make conformance")
	}
	expected, err := expectedFailures(filepath.Join(suiteFolder, "expected-failures.yml"))
	require.NoError(t, err)
	results := t.TempDir()
	suite := exec.Command(node, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"),
		"server", "--url", buildCommand(t).http(t, "--conformance"), "--requirements", revision,
		"--expected-failures", "expected-failures.yml", "--output-dir", results)
	suite.Dir = suiteFolder
	out, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", out)

	scenarios, err := readResults(results)
	require.NoError(t, err)
	counts, rounds := map[suiteVerdict]int{}, 0
	for _, s := range scenarios {
		verdict := s.Judge(expected)
		counts[verdict]++
		t.Logf("%-48s %2d checks  %s", s.Name, len(s.Checks), verdict)
		if strings.HasPrefix(s.Name, "input-required-result-") {
			require.Equal(t, Passed, verdict, "%s\n%s", s.Name, s.Problems())
			rounds++
		}
		require.NotContains(t, []suiteVerdict{Failed, Stale}, verdict, "%s\n%s", s.Name, s.Problems())
	}
	require.Equal(t, 14, rounds, "scenarios input-required-result-*")
	require.Equal(t, len(expected), counts[Expected], "every expected failure was run")
	t.Logf("%d scenarios of revision %s: %v", len(scenarios), revision, counts)
}

// TestJudge checks that every verdict can occur.
func TestJudge(t *testing.T) {
	checks := func(statuses ...string) (all []suiteCheck) {
		for _, s := range statuses {
			all = append(all, suiteCheck{ID: "c", Status: s, Message: "m"})
		}
		return all
	}
	for _, c := range []struct {
		statuses []string
		expected []string
		want     suiteVerdict
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
		s := scenario{Name: "it", Checks: checks(c.statuses...)}
		require.Equal(t, c.want, s.Judge(c.expected), "%v", c.statuses)
	}
}

func TestReadNothing(t *testing.T) {
	_, err := readResults(t.TempDir())
	require.ErrorContains(t, err, "no results")
}
