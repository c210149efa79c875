package review_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/internal/broken/mcp"
	"sealab/internal/testenv"
)

// inEveryRevision reports whether a check runs on servers that speak only older revisions, over a
// transport, without a state.
func inEveryRevision(c review.Check, stdio bool) bool {
	return c.Era == "" && !c.Flow && (c.Over == "" || (c.Over == "stdio") == stdio)
}

// TestOlder reviews servers that speak only older revisions. The checks that run in every revision
// must find the same faults as in the newest one.
func TestOlder(t *testing.T) {
	t.Parallel()
	for i, x := range rows {
		checks := slices.DeleteFunc(slices.Clone(x.checks), func(id string) bool {
			return !slices.ContainsFunc(checks.All(), func(c review.Check) bool { return c.ID == id && inEveryRevision(c, x.stdio) })
		})
		if len(checks) == 0 || x.modern || !inSample(i) || testenv.Race() && x.timed {
			continue
		}
		x.fault += " + " + mcp.Older
		t.Run(fmt.Sprintf("%d %s", i, x.fault), func(t *testing.T) {
			t.Parallel()
			report, s := x.review(t, append(checks, "T-UNKNOWN")) // H-CODES reads the error of T-UNKNOWN
			require.NotContains(t, report.Server.Revisions, "2026-07-28")
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range checks {
				require.Contains(t, found, id, describe(report))
			}
			if x.change == nil {
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
		})
	}
}

// TestOlderUnbroken reviews sound servers that speak only older revisions. A sample has one of
// them with effects, and under -short a safe review, which does not wait.
func TestOlderUnbroken(t *testing.T) {
	t.Parallel()
	sample := "effects"
	if testing.Short() {
		sample = "safe"
	}
	for name, x := range map[string]row{
		"safe": {}, "effects": {change: slowTool}, "no sessions": {fault: "no sessions", change: slowTool}, "streams": {fault: "answers in streams", change: slowTool},
		"discovery": {fault: "discovery in older revisions", change: slowTool},
		"stdio":     {stdio: true, fault: "waits for the roots"}, "stdio, effects": {stdio: true, change: slowTool}, "prompts": {fault: "a prompt that answers at once"},
	} {
		if testenv.Sample() && name != sample {
			continue
		}
		x.fault += " + " + mcp.Older
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, s := x.review(t, nil)
			require.Equal(t, []string{"2025-11-25"}, report.Server.Revisions)
			require.Empty(t, report.Findings, describe(report))
			require.NotEmpty(t, report.Server.Tools)
			require.NotEmpty(t, report.Server.Resources)
			if x.change == nil {
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
			t.Log(describe(report))
		})
	}
}
