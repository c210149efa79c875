package review_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/testenv"
)

// ranBefore returns the tools that ran to their end, as the server reports them. It calls echo as
// well: if the result is empty, the server would have reported that call.
func (a *asker) ranBefore(t *testing.T, name string) []string {
	t.Helper()
	p := a.probe()
	if name == "py-low" { // it has no echo and accepts any state
		a.edit(t, p, `call tools/call | deploy | "name":"deploy","arguments":{"env":"x"},"requestState":"{\"step\":\"reason\",\"env\":\"hi\"}",`)
	}
	if name == "ts1" {
		require.Equal(t, "200 ok", class(a.visit().in(inVisit["tool call"])))
	} else {
		require.Equal(t, "200 ok", class(a.send(p)))
	}
	if name == "sealab" { // it reports the count when it exits
		require.NoError(t, a.server.cmd.Process.Signal(syscall.SIGTERM))
		if line := a.server.said(t, "tool calls that ran to their end"); !strings.HasSuffix(line, ": 1") {
			return []string{line}
		}
		return nil
	}
	var ran []string
	for {
		line := a.server.said(t, "ran: ")
		if strings.HasSuffix(line, "ran: hi") || strings.HasSuffix(line, "ran: deployed hi because None") {
			return ran
		}
		ran = append(ran, line)
	}
}

// TestSafe reviews the installed servers with every check and without effects. The servers
// themselves count the tools that ran to their end, which must be none. With -v the test prints a
// table; with -args -all it has all servers.
func TestSafe(t *testing.T) {
	testenv.SkipSample(t) // each server takes seconds
	fmt.Fprintf(os.Stderr, "%-12s %9s %8s %5s %9s\n", "server", "exchanges", "seconds", "ran", "findings")
	names := []string{"sealab", "go"}
	if *all {
		names = []string{"sealab"}
		for _, f := range foreigners {
			names = append(names, f.name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			a := newAsker(t, name)
			o := review.Options{Target: client.Target{URL: a.server.url}, Seed: 1, Budget: 6000}
			if columnServer(name).users {
				twoUsers(&o)
			}
			report, err := review.Run(context.Background(), checks.All(), o)
			require.NoError(t, err)
			require.Zero(t, report.Ran, describe(report))
			require.Empty(t, a.ranBefore(t, name))
			fmt.Fprintf(os.Stderr, "%-12s %9d %8.1f %5d %9d\n", name, report.Exchanges, report.Seconds, 0, len(report.Findings))
		})
	}
}
