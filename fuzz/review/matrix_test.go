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
	o := review.Options{Target: target, Checks: ids, Seed: 1, Budget: 6000, Limits: rawmcp.Limits{Time: 30 * time.Second}, Hang: 20 * time.Second, Grace: 5 * time.Second, Large: 8 << 20}
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
	require.Equal(t, map[string]review.Severity{"H-JSON": review.Warning}, found, describe(report))
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

// unusualRows are unusual sound servers, with the checks that are most likely to refute them wrongly.
var unusualRows = []row{
	{fault: "revisions looked up before they are compared", checks: []string{"H-VERMIS"}},
	{fault: "messages over two lines + questions name the call", checks: []string{"H-CODES", "H-RESULT", "T-VALUE", "H-HOST", "A-401", "A-META"}},
	{fault: "prompts alone", checks: []string{"H", "A", "P", "R", "T", "S", "RS-WHERE"}},
	{fault: "resources alone", checks: []string{"H", "A", "R", "T", "S", "X-SIZE"}, change: withEffects},
	{fault: "discovery alone", checks: []string{"H", "A", "R", "T", "S"}},
	{fault: "prompts alone + older revisions alone", checks: []string{"H", "A", "P", "R", "T", "S"}},
	{stdio: true, fault: "resources alone", checks: []string{"H", "R", "T", "IO"}},
	{fault: "constant states + rounds skipped", checks: []string{"RS-ARGS", "RS-USER", "RS-TAMPER"}, change: withEffects},
	{fault: "constant states", checks: []string{"RS-ARGS", "RS-USER"}},
	{fault: "guests look", checks: []string{"RS-USER"}},
	{fault: "links for reading", checks: []string{"RS-FORGE"}, change: withEffects},
	{fault: "links with waiting states", checks: []string{"RS-FORGE"}, change: withEffects},
	{fault: "fields joined with borders", checks: []string{"RS-ARGS", "RS-FORGE", "RS-TAMPER", "RS-SPLICE"}},
	{fault: "fields joined with borders + random texts", checks: []string{"RS-ARGS", "RS-FORGE", "RS-TAMPER"}, change: withEffects},
	{fault: "guests look", checks: []string{"RS-USER"}, change: withEffects},
	{fault: "signed credentials", checks: []string{"A"}, change: signedUsers},
	{fault: "letters of own teams", checks: []string{"A-NAME", "T-USER"}, change: withEffects},
	{fault: "letters of own teams", checks: []string{"A-NAME"}, change: teamsOfUsers},
	{fault: "tools of users", checks: []string{"A-NAME", "T-USER", "T-MIX", "T-UNKNOWN"}},
	{fault: "resources in pages + subscriptions to own notes", checks: []string{"R-USER", "T-USER", "T-MIX", "RS-METHOD"}, change: withEffects},
	{fault: "drafts asked for", checks: []string{"RS-FORM", "RS-DECLINE", "RS-CAP", "RS-SHAPE", "RS-EXTRA", "RS-ASKAGAIN", "T-MIX", "RS-ARGS", "RS-PROTO"}, change: withEffects},
	{fault: "guests of older revisions", checks: []string{"A-METHOD", "A-401", "S-HIJACK"}},
	{fault: "refusals with status 500", checks: []string{"L-PROGRESS", "RS-UNIFORM", "RS-TEXT", "RS-CUT"}},
	{fault: "cursors as objects", checks: []string{"R-CURSOR", "H-CURSOR", "H-RESULT", "T-USER"}},
	{fault: "cursors as numbers", checks: []string{"R-CURSOR", "H-CURSOR", "H-RESULT", "T-USER"}},
	{fault: "ledgers in pages + resources in pages", checks: []string{"R-CURSOR", "T-USER", "T-VALUE", "T-OUT", "T-READS"}, change: withEffects},
	{fault: "handles of pages for any user", checks: []string{"R-CURSOR"}},
	{fault: "own notes in any case", checks: []string{"R-USER"}},
	{fault: "notices that come and go", checks: []string{"R-USER", "T-USER"}},
	{fault: "changes told to their user", checks: []string{"R-USER"}, change: withEffects},
	{fault: "shares", checks: []string{"R-USER", "R-REVOKE", "T-USER"}, change: withEffects},
	{fault: "changes in public", checks: []string{"R-USER", "L-LISTEN"}, change: withEffects},
	{fault: "own questions on the board", checks: []string{"R-USER", "T-MIX"}},
	{fault: "completions name the user", checks: []string{"T-USER", "C-COMP", "R-USER"}},
	{fault: "own visits completed", checks: []string{"T-USER", "C-COMP", "R-USER", "R-PATH"}},
	{fault: "visits in public", checks: []string{"T-USER", "C-COMP", "R-USER", "R-PATH"}},
	{fault: "boards of sessions", checks: []string{"S-END"}, change: withEffects},
	{fault: "boards of ended sessions in public", checks: []string{"S-END"}, change: withEffects},
	{fault: "one board for all sessions", checks: []string{"S-END"}, change: withEffects},
	{fault: "tasks + counted tasks", checks: []string{"S-TASK", "S-HIJACK"}, change: withEffects},
	{fault: "tasks + no credentials wanted", checks: []string{"S-TASK"}, change: nobodyWithEffects},
	{fault: "questions name the call", checks: []string{"H-TRACE"}, change: deploysCredential},
	{fault: "totals name users", checks: []string{"H-TRACE"}, change: withEffects},
	{fault: "masks in URLs", checks: []string{"H-TRACE"}, change: withEffects},
	{fault: "details", checks: []string{"H-TRACE", "T-TYPE", "T-OUT"}, change: withEffects},
	{fault: "letters of users", checks: []string{"T-USER", "T-MIX", "T-READS"}, change: withEffects},
	{fault: "letters of named users", checks: []string{"T-USER", "T-MIX", "T-TYPE"}, change: withEffects},
	{fault: "letters by lists", checks: []string{"T-USER", "T-MIX", "T-TYPE"}, change: withEffects},
	{fault: "letters of the office refused", checks: []string{"T-USER"}, change: withEffects},
	{fault: "letters in public", checks: []string{"T-USER"}, change: withEffects},
	{fault: "letters of a team", checks: []string{"T-USER"}, change: withEffects},
	{fault: "codings named", checks: []string{"H-ACCEPT", "H-CODES"}},
	{fault: "readings that drift", checks: []string{"T-READS"}, change: withEffects},
	{fault: "totals are counted", checks: []string{"T-READS"}, change: withEffects},
	{fault: "totals by lot", checks: []string{"T-USER", "T-MIX", "T-READS", "T-RACE"}, change: withEffects},
	{fault: "counts", checks: []string{"T-RACE"}, change: withEffects},
	{fault: "counts + counts in ledgers", checks: []string{"T-RACE", "T-READS"}, change: withEffects},
	{fault: "counts", checks: []string{"T-RACE"}, change: namesEcho},
	{fault: "removals once", checks: []string{"T-RACE"}, change: withEffects},
	{fault: "random texts", checks: []string{"T-RACE"}, change: withEffects},
	{fault: "words by lot", checks: []string{"RS", "T", "R", "P", "C"}, change: withEffects},
	{fault: "removals counted", checks: []string{"T-OUT"}, change: withEffects},
	{fault: "totals name users", checks: []string{"T-USER"}, change: withEffects},
	{fault: "digests in logs", checks: []string{"L-PROGRESS"}, change: withEffects},
	{fault: "labels with a tag", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "removals once", checks: []string{"RS-DENY", "RS-DECLINE", "RS-TAMPER", "RS-USER", "RS-ARGS", "RS-REPLAY"}, change: removesProd},
	{fault: "arguments without case + small letters + random texts", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "places of a list + random texts", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "answers are final + false confirmations are declines", checks: []string{"RS-DECLINE", "RS-DENY", "RS-REPLAY"}, change: oneTime},
	{fault: "questions name the tool", checks: []string{"RS-TOOL"}, change: removesProd},
	{fault: "questions name the tool + begins again elsewhere", checks: []string{"RS-TOOL"}, change: removesProd},
	{fault: "two names of a tool", checks: []string{"RS-REPLAY", "RS-ROLL", "RS-TOOL"}, change: oneTime},
	{fault: "used tokens by their text", checks: []string{"RS-REPLAY", "RS-SPELL"}, change: oneTime},
	{fault: "careless base64", checks: []string{"RS-REPLAY"}, change: oneTime},
	{fault: "calls that take time + counts", checks: []string{"RS-ABORT"}, change: deploysOnce},
	{fault: "calls that end with their connection + counts", checks: []string{"RS-ABORT"}, change: deploysOnce},
	{fault: "false confirmations are declines", checks: []string{"RS-DECLINE"}, change: oneTime},
	{fault: "false confirmations are declines", checks: []string{"RS-DECLINE", "RS-FORM"}, change: withEffects},
	{fault: "charges waived for the office", checks: []string{"RS-EXTRA", "RS-FORM", "RS-SHAPE"}, change: withEffects},
	{fault: "charges waived for the office + random texts", checks: []string{"RS-EXTRA", "T-MIX"}, change: withEffects},
	{fault: "words wanted", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "words wanted", checks: []string{"RS-REPLAY"}, change: oneTime},
	{fault: "texts as they were", checks: []string{"RS-ARGS", "RS-REVOKE"}, change: withEffects},
	{fault: "changed texts refused", checks: []string{"RS-ARGS", "RS-REVOKE"}, change: withEffects},
	{fault: "shelves by name", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "shelves by name + random texts", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "approvals by two members", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "PINs asked again", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "pots by answers", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "pots by members + random texts", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "pots listed", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "consents filled in", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "notices by default", checks: []string{"RS-FORM", "RS-SHAPE"}, change: withEffects},
	{fault: "words wanted + locks after three invalid answers", checks: []string{"RS-TRIES"}, change: withEffects},
	{fault: "words wanted + random texts", checks: []string{"RS-TRIES"}, change: withEffects},
	{fault: "other types are declines", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "locks after three invalid answers", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "questions name all arguments", checks: []string{"T-MIX"}, change: withEffects},
	{fault: "attempts counted", checks: []string{"RS-TRIES"}, change: withEffects},
	{fault: "words wanted + attempts of flows", checks: []string{"RS-TRIES"}, change: withEffects},
	{fault: "words wanted + attempts of flows, asked anew", checks: []string{"RS-TRIES"}, change: withEffects},
	{fault: "duties", checks: []string{"RS-REVOKE"}, change: withEffects},
	{fault: "duties end with new calls", checks: []string{"RS-REVOKE"}, change: withEffects},
	{fault: "withdrawals + random texts", checks: []string{"RS-REVOKE"}, change: withEffects},
	{fault: "withdrawals of removals", checks: []string{"RS-REVOKE"}, change: withEffects},
	{fault: "deletions", checks: []string{"RS-REVOKE"}, change: forgetsPlaces},
	{fault: "removals of one place", checks: []string{"RS-TAKEBACK", "RS-ARGS"}, change: removesProd},
	{fault: "prices told", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "results name users", checks: []string{"T-MIX"}, change: withEffects},
	{fault: "conflicts", checks: []string{"T-MIX", "R-USER"}, change: withEffects},
	{fault: "conflicts in public", checks: []string{"T-MIX", "R-USER"}, change: withEffects},
	{fault: "receipts of users", checks: []string{"T-MIX", "R-USER"}, change: withEffects},
	{fault: "receipts of users and known places", checks: []string{"T-MIX", "T-USER", "R-USER"}, change: refersToPlaces},
	{fault: "sessions to end are named", checks: []string{"H-VERB"}},
	{fault: "challenges without metadata", checks: []string{"A-META"}},
	{fault: "challenges without metadata + no metadata", checks: []string{"A-META", "A-401"}},
	{fault: "answers in streams", checks: []string{"L-PROGRESS", "S-RESUME", "RS-DOWN"}, change: withEffects},
	{fault: "a revision of its own", checks: []string{"S-NEG"}},
	{fault: "two questions pushed", checks: []string{"S-PUSH"}, change: withEffects},
	{fault: "older revisions not carried out", checks: []string{"RS-DOWN", "S-PUSH"}, change: withEffects},
	{fault: "progress in time", checks: []string{"L-PROGRESS"}},
	{fault: "questions name all arguments", checks: []string{"RS-ARGS"}},
	{fault: "questions name all arguments + degrees", checks: []string{"RS-ARGS"}},
	{fault: "labels sorted + lists of labels", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "labels sorted + lists of labels + labels told + random texts", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "places by path", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "places by path + questions name the call", checks: []string{"RS-ARGS"}},
	{fault: "degrees + random texts", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "gifts", checks: []string{"T-NUMBER", "T-TYPE"}, change: withEffects},
	{fault: "prices rounded up", checks: []string{"T-NUMBER", "T-VALUE", "T-RACE"}, change: withEffects},
	{fault: "worths", checks: []string{"T-NUMBER", "RS-ARGS"}, change: withEffects},
	{fault: "taxes cut", checks: []string{"T-NUMBER"}, change: withEffects},
	{fault: "sums", checks: []string{"T-NUMBER", "T-VALUE", "RS-ARGS"}, change: withEffects},
	{fault: "bins + random texts", checks: []string{"T-NUMBER", "T-INJECT"}, change: withEffects},
	{fault: "lists of units", checks: []string{"T-TYPE", "T-VALUE"}, change: withEffects},
	{fault: "lists of labels + amounts", checks: []string{"RS-ARGS", "RS-NONCE"}},
	{fault: "bins", checks: []string{"RS-ARGS", "RS-SIZE", "RS-ASKAGAIN"}, change: withEffects},
	{fault: "absent texts are empty + labels of any members + questions name the call", checks: []string{"RS-ARGS"}},
	{fault: "absent texts are empty + labels of any members", checks: []string{"RS-ARGS", "RS-FORM"}, change: withEffects},
	{fault: "states as texts", checks: []string{"RS-TAG", "RS-TAMPER", "RS-FORGE", "RS-CUT"}},
	{fault: "signed states for a published key", checks: []string{"RS-FORGE"}, change: withEffects},
	{fault: "public keys in a set", checks: []string{"RS-FORGE", "RS-TAMPER"}},
	{fault: "public keys in headers, unread", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
	{fault: "absent texts are empty + labels of any members", checks: []string{"RS-ARGS", "RS-FORM", "T-PROTO"}, change: withEffects},
	{fault: "readable and careful + paths stamped with another key", checks: []string{"RS-FORGE", "T-INJECT"}, change: withEffects},
	{fault: "readable and careful + paths kept in tokens of another key", checks: []string{"RS-FORGE", "T-INJECT"}, change: withEffects},
	{fault: "names of keys in tokens", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
	{fault: "states in parts", checks: []string{"RS-SPLICE", "RS-TAMPER", "RS-CUT"}, change: withEffects},
	{fault: "lists of tags", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
	{fault: "files of keys named", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
	{fault: "versions in tokens + states of varying length", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
	{fault: "one reader + one extension", checks: []string{"H-CORS", "H-ORIGIN"}},
	{fault: "readings by lot for all caches", checks: []string{"H-RESULT", "R-USER"}},
	{fault: "answers for the cache of a user", checks: []string{"H-RESULT", "H-VERB", "H-BATCH", "H-VERMIS"}},
	{checks: []string{"A-401", "H-CORS", "H-ORIGIN", "H-HOST", "S-ORIGIN", "H-ID", "H-UNKNOWN", "H-CODES"}},
	{checks: []string{"T-VALUE", "T-HIDDEN", "H-RESULT", "H-PATH", "C-COMP", "H-VER", "H-CURSOR", "S-END", "S-RESUME", "A-META", "L-PROGRESS", "R-FETCH"}, change: withEffects},
	{fault: "paths come back + completions by prefix", checks: []string{"T-INJECT", "T-VALUE"}, change: withEffects},
	{modern: true, fault: "nested lists end the connection", checks: []string{"T-VALUE"}, change: withEffects},
	{fault: "apostrophes in notes refused", checks: []string{"T-INJECT", "RS-VALUE"}, change: withEffects},
	{fault: "apostrophes in notes in pairs", checks: []string{"T-INJECT", "RS-VALUE"}, change: withEffects},
	{fault: "pages of a folder + pages of notes", checks: []string{"T-VALUE"}, change: withEffects},
	{fault: "pages of a folder", checks: []string{"T-VALUE"}, change: withEffects},
	{fault: "sorts of a list", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "previews of a host", checks: []string{"R-FETCH"}, change: withEffects},
	{fault: "backups of links", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "backups decoded", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "archives unpacked inside", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "archives unpacked flat", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "words of paths counted", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "pages found by name", checks: []string{"R-PATH"}},
	{fault: "pages found by the nearest name", checks: []string{"R-PATH"}},
	{fault: "paths calculated", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "paths in XML", checks: []string{"T-INJECT"}, change: withEffects},
	{fault: "questions name the call", checks: []string{"RS-FORMSECRET", "T-INJECT"}},
	{fault: "a form about a secret", checks: []string{"RS-FORMSECRET"}},
	{fault: "a note in the answer", checks: []string{"RS-VALUE", "X-PATTERN", "RS-FORM", "RS-DECLINE"}, change: withEffects},
	{stdio: true, fault: "previews of any host", checks: []string{"R-FETCH", "T-INJECT"}, change: withEffects},
	{stdio: true, checks: []string{"T-VALUE", "T-HIDDEN", "H-RESULT", "L-PROGRESS", "R-FETCH", "IO-LINE"}, change: withEffects},
}

// TestUnbrokenInChecks reviews unusual sound servers.
func TestUnbrokenInChecks(t *testing.T) {
	t.Parallel()
	for i, x := range unusualRows {
		if testenv.Sample() && i%8 != 3 || testing.Short() && i%32 != 19 {
			continue // one in eight, under -short one in 32
		}
		t.Run(fmt.Sprint(x.fault, x.checks), func(t *testing.T) {
			t.Parallel()
			report, _ := x.review(t, x.checks)
			require.Empty(t, report.Findings, describe(report))
		})
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
	for fault, want := range map[string]review.Severity{"results kept + random texts": review.Suggestion, "used twice + random texts": review.Critical, "results kept": review.Suggestion, "results kept by token": review.Suggestion, "used twice": review.Critical} {
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
