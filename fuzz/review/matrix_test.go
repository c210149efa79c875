package review_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/broken/mcp"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// A row is a fault of the broken server and the checks that find it.
type row struct {
	fault    string
	checks   []string
	also     []string // checks that may refute it as well
	change   func(*review.Options)
	second   string // the fault of a second instance
	twin     bool   // a second instance has the same key
	stdio    bool
	critical bool // its checks rate it critical
	ends     bool // an earlier check stops the server, so there is nothing left to review
	modern   bool // it shows only in the newest revision
	timed    bool // it shows in the time of an answer, which the race detector distorts
}

// review reviews the broken server of a row.
func (x row) review(t *testing.T, ids []string) (*review.Report, *mcp.Server) {
	t.Helper()
	clock := &fakeClock{now: time.Unix(1_795_164_472, 0)}
	target := client.Target{Command: []string{"/usr/bin/env", serverVariable + "=mcp:" + x.fault, os.Args[0]}}
	s := &mcp.Server{}
	if !x.stdio {
		s, target.URL = x.serve(t, clock, strings.Split(x.fault, " + ")...)
		target.Command = nil
	}
	o := review.Options{Target: target, Checks: ids, Seed: 1, Budget: review.DefaultBudget, Limits: rawmcp.Limits{Time: 30 * time.Second}, Hang: 20 * time.Second, Grace: 5 * time.Second, Large: 8 << 20}
	twoUsers(&o)
	o.Target.Foreign = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + mcp.Elsewhere}}
	if x.stdio {
		o.Target.Headers, o.Target.Second, o.Target.Foreign = nil, nil, nil
	}
	o.Clock = client.Clock{Now: clock.Now, Sleep: clock.Sleep}
	o.Restart = func(context.Context) error { s.Restart(); return nil }
	if x.second != "" || x.twin {
		var other *mcp.Server
		if other, o.Target.Also = x.serve(t, clock, x.second); x.twin {
			other.Secret = s.Secret
		}
	}
	if x.change != nil {
		x.change(&o)
	}
	report, err := review.Run(context.Background(), checks.All(), o)
	require.NoError(t, err)
	return report, s
}

// serve serves a broken server over HTTP.
func (x row) serve(t *testing.T, clock *fakeClock, faults ...string) (*mcp.Server, string) {
	s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		return client.SystemClock().Sleep(ctx, d/3)
	}}, faults...)
	s.Users = true
	h := httptest.NewUnstartedServer(s)
	h.Listener = s.Listener(h.Listener)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.Start()
	t.Cleanup(h.Close)
	return s, h.URL + "/mcp"
}

var all = flag.Bool("all", false, "carry every check out on every broken server")

// inSample reports whether the i-th broken server is in the sample of a test. The sample has every
// 48th, and under -short every 96th.
func inSample(i int) bool {
	step := 48
	if testing.Short() {
		step = 96
	}
	return *all || !testenv.Sample() || i%step == 24
}

// TestMatrix reviews a server with one fault for each check. The row's checks must refute it. With
// -args -all no other check may.
func TestMatrix(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, x := range rows {
		for _, id := range x.checks {
			seen[id] = true
		}
		if !inSample(i) || testenv.Race() && x.timed {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i, x.fault), func(t *testing.T) {
			t.Parallel()
			checks := x.checks
			if *all && !x.ends {
				checks = nil
			}
			report, s := x.review(t, checks)
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range x.checks {
				require.Contains(t, found, id, describe(report))
				require.True(t, !x.critical || found[id] == review.Critical, describe(report))
				delete(found, id)
			}
			for _, id := range x.also {
				delete(found, id)
			}
			if *all {
				require.Empty(t, found, describe(report))
			}
			if x.change == nil {
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
		})
	}
	for _, c := range checks.All() {
		require.True(t, seen[c.ID], "%s has no broken server", c.ID)
	}
}

// TestEnded reviews a server that an earlier check stops. Later checks cannot run and must not
// record findings.
func TestEnded(t *testing.T) {
	t.Parallel()
	report, _ := row{fault: "bad lines end the server"}.review(t, []string{"H-JSON", "T"})
	found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
	want := map[string]review.Severity{"H-JSON": review.Warning, "T-DEPTH": review.Warning} // each sends nested lists
	require.Equal(t, want, found, describe(report))
}

// TestUnbroken reviews the server without a fault. No check may refute it.
func TestUnbroken(t *testing.T) {
	testenv.SkipSample(t) // TestSound reviews a sound server
	t.Parallel()
	effects := func(o *review.Options) { oneTime(o); told(o); slowTool(o) }
	shared := func(o *review.Options) { oneTime(o); o.Target.Also = o.Target.URL }
	for name, x := range map[string]row{"safe": {}, "effects": {change: effects}, "two instances with one store": {change: shared},
		"begins again": {fault: "begins again elsewhere", change: told}, "begins again, effects": {fault: "begins again elsewhere", change: effects},
		"questions name the call": {fault: "questions name the call"}, "questions name the call, effects": {fault: "questions name the call", change: effects},
		"answers in streams": {fault: "answers in streams"}, "no sessions": {fault: "no sessions", change: brief}, "compressed bodies": {fault: "compressed bodies", change: brief}, "flags of emoji": {fault: "flags of emoji"}, "a prompt that answers at once": {fault: "a prompt that answers at once"}, "arguments of several types": {fault: "arguments of several types"}, "keys of questions by chance, effects": {fault: "keys of questions by chance", change: effects}, "stdio": {stdio: true, fault: "answers in parts"}, "stdio, responses refused": {stdio: true, fault: "responses refused aloud"}, "stdio, effects": {stdio: true, change: func(o *review.Options) { oneTime(o); slowTool(o) }}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, s := x.review(t, nil)
			require.Empty(t, report.Findings, describe(report))
			if name == "begins again" {
				require.Contains(t, describe(report), "begins again on a good state")
			}
			if x.change == nil {
				require.Zero(t, report.Ran)
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
			t.Log(describe(report))
		})
	}
}

// TestSpellingsOfUsedTokens checks that other spellings of tokens that are used once are a warning only if the
// server takes one of a used token.
func TestSpellingsOfUsedTokens(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]review.Severity{"careless base64": review.Suggestion, "careless base64 + used tokens by their text": review.Warning} {
		report, _ := row{modern: true, fault: fault, change: oneTime}.review(t, []string{"RS-SPELL"})
		require.Equal(t, want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-SPELL"], describe(report))
	}
}

// TestGuessableOfOneUser checks that handles that can be guessed are a suggestion if other users cannot use
// them.
func TestGuessableOfOneUser(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]review.Severity{"hashed handles": review.Suggestion, "counted handles": review.Critical} {
		report, _ := row{modern: true, fault: fault}.review(t, []string{"RS-GUESS"})
		require.Equal(t, want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-GUESS"], describe(report))
	}
}

// TestHashedCodes reviews readable states with a code or the hash of one. Without effects it is a warning. A
// hash under a key of the server is none, and nor is one of several answers.
func TestHashedCodes(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		fault  string
		change func(*review.Options)
		want   review.Severity
	}{{"codes hashed in states", nil, review.Warning}, {"codes hashed in states", withEffects, review.Critical}, {"codes hashed under a key", withEffects, review.Suggestion},
		{"codes hashed under a key + codes after a confirmation", withEffects, review.Suggestion},
		{"codes kept in states", nil, review.Warning}, {"codes kept in states", withEffects, review.Critical}, {"tones of one list", nil, review.Suggestion}, {"tones of one list", withEffects, review.Suggestion}} {
		report, _ := row{fault: "readable and careful + " + x.fault, change: x.change}.review(t, []string{"RS-CLEAR"})
		require.Equal(t, x.want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-CLEAR"], "%s: %s", x.fault, describe(report))
	}
}

// TestDeclineIsReplayed reviews a server that carries out a decline of a call that works once, and
// then another one with the flow of the finding, as a replay does.
func TestDeclineIsReplayed(t *testing.T) {
	t.Parallel()
	x := row{fault: "removals once + action ignored", change: removesProd}
	report, _ := x.review(t, []string{"RS-DENY"})
	require.Len(t, report.Findings, 1, describe(report))
	found := report.Findings[0]
	x.change = func(o *review.Options) { o.Effects, o.Case, o.Flows = true, found.Case, []client.Flow{*found.Flow} }
	report, _ = x.review(t, []string{"RS-DENY"})
	require.Len(t, report.Findings, 1, describe(report))
}

// TestEmptyAccounts reviews servers that refuse calls because the user has made as many as the account
// allows.
func TestEmptyAccounts(t *testing.T) {
	t.Parallel()
	for calls := 1; calls < 30; calls++ {
		if testenv.Sample() && calls%4 != 0 {
			continue
		}
		report, _ := row{fault: fmt.Sprintf("accounts for %d calls", calls), change: withEffects}.review(t, []string{"RS-FORM"})
		if len(report.Findings) > 0 {
			t.Errorf("%d: %s", calls, describe(report))
		}
		if calls == 20 { // fewer than the check makes
			require.Len(t, report.Notes, 1)
			require.Contains(t, report.Notes[0], "completed at first")
		}
	}
}

// TestEmptyAccountOfOneUser reviews servers whose tool for one use is no longer carried out for the first
// user. The first accepts tokens twice.
func TestEmptyAccountOfOneUser(t *testing.T) {
	t.Parallel()
	const accounts = "accounts for 24 calls" // fewer than the checks make as the first user
	for fault, want := range map[string]review.Severity{accounts + " + used twice": review.Critical, accounts: ""} {
		report, _ := row{fault: fault, change: oneTime}.review(t, []string{"RS-FORM", "RS-REPLAY"})
		require.Equal(t, want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-REPLAY"], "%s: %s", fault, describe(report))
	}
}

// TestRandomEvents reviews a server that replays the answers of any session, under IDs that a stranger
// cannot guess.
func TestRandomEvents(t *testing.T) {
	t.Parallel()
	report, _ := row{fault: "answers of any session replayed + random events"}.review(t, []string{"S-RESUME"})
	require.Equal(t, map[string]review.Severity{"S-RESUME": review.Warning}, refutedBy(report, review.Critical, review.Warning), describe(report))
}

// TestKeptResults reviews a server that answers a used token with its earlier result, and one that
// runs the tool again. Each run has a different result.
func TestKeptResults(t *testing.T) {
	t.Parallel()
	removeOnce := func(o *review.Options) { o.Effects, o.OneTime = true, []string{"remove"} }
	for fault, want := range map[string]review.Severity{"results kept + random texts": review.Suggestion, "results kept + used twice + random texts": review.Critical, "used twice + random texts": review.Critical, "used twice + one receipt for each user": review.Suggestion, "results kept": review.Suggestion, "results kept by token": review.Suggestion, "used twice": review.Critical} {
		change := oneTime
		if strings.HasSuffix(fault, "by token") {
			change = removeOnce
		}
		report, _ := row{fault: fault, change: change}.review(t, []string{"RS-REPLAY"})
		require.Equal(t, want, refutedBy(report, review.Critical, review.Warning, review.Suggestion)["RS-REPLAY"], "%s: %s", fault, describe(report))
	}
}

// TestRepeatedNames reviews a sound server on standard input that refuses duplicate names with an
// error without an ID. No call may wait for an answer that cannot come.
func TestRepeatedNames(t *testing.T) {
	t.Parallel()
	calls, refused := 0, 0
	record := func(o *review.Options) {
		o.Effects = true
		o.Record = func(e *rawmcp.Exchange) {
			calls++
			require.NoError(t, e.Err, "%s", e.Sent)
			if bytes.Contains(e.Received, []byte("parse error")) {
				refused++
			}
		}
	}
	report, _ := row{stdio: true, fault: "repeated names refused without an id", change: record}.review(t, []string{"RS-ARGS"})
	require.Empty(t, report.Findings, describe(report))
	require.NotZero(t, refused, "of %d calls", calls)
}

// TestEndIsNamed reviews a server on standard input that exits. The finding must contain the
// request that stopped it, and not an earlier honest one.
func TestEndIsNamed(t *testing.T) {
	t.Parallel()
	report, _ := row{stdio: true, fault: "NUL in a text ends the server"}.review(t, []string{"RS-ARGS"})
	require.Len(t, report.Findings, 1, describe(report))
	require.Contains(t, report.Findings[0].Evidence, `u0000`)
}

// TestEndIsShownAgain replays the finding that a server exits, on the broken server and on a sound
// one.
func TestEndIsShownAgain(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]int{"batches end the server": 1, "": 0} {
		x := row{fault: fault, change: func(o *review.Options) { o.Case = "the server goes on" }}
		report, _ := x.review(t, []string{"H-BATCH"})
		require.Len(t, report.Findings, want, describe(report))
	}
}

// serveFaults runs the broken server on standard streams.
func serveFaults(faults []string) {
	clock := client.SystemClock()
	s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: func(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, d/3) }}, faults...)
	if slices.Contains(faults, "SIGTERM ignored") {
		signal.Ignore(syscall.SIGTERM)
	}
	err := s.ServeLines(os.Stdin, os.Stdout, os.Stderr)
	if slices.Contains(faults, "the end of input ignored") {
		select {}
	}
	if err != nil {
		os.Exit(1)
	}
}
