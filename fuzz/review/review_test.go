package review_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// reviewed reviews a fixture and returns the report.
func reviewed(t *testing.T, f *fixture, change func(*review.Options)) *review.Report {
	t.Helper()
	o := review.Options{Target: client.Target{URL: f.start(t)}, Checks: []string{"RS"}, Seed: 1, Budget: 4000}
	o.Clock = client.Clock{Now: f.clock.Now, Sleep: f.clock.Sleep}
	if testing.Verbose() {
		o.Log = t.Logf
	}
	if change != nil {
		change(&o)
	}
	report, err := review.Run(context.Background(), checks.All(), o)
	require.NoError(t, err)
	return report
}

func withEffects(o *review.Options) { o.Effects = true }

func twoUsers(o *review.Options) {
	o.Target.Headers = []rawmcp.Header{{Name: "Authorization", Value: "Bearer alice"}}
	o.Target.Second = []rawmcp.Header{{Name: "Authorization", Value: "Bearer bob"}}
}

// refutedBy returns the IDs of the checks with a finding of one of the severities.
func refutedBy(r *review.Report, severities ...review.Severity) map[string]review.Severity {
	found := map[string]review.Severity{}
	for _, f := range r.Findings {
		for _, s := range severities {
			if f.Severity == s {
				found[f.Check] = s
			}
		}
	}
	return found
}

func describe(r *review.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n  %s\n", f.Severity, f.Check, f.Issue, f.Evidence)
	}
	for _, o := range r.Outcomes {
		fmt.Fprintf(&b, "%s: %s (%d) %s\n", o.Check, o.Outcome, o.Trials, o.Reason)
	}
	fmt.Fprintf(&b, "%v\n%d exchanges, %d runs\n", r.Notes, r.Exchanges, r.Ran)
	return b.String()
}

// sound are servers that must not be refuted.
var sound = map[string]func() *fixture{
	"signed":       func() *fixture { return &fixture{seal: soundSigned()} },
	"encrypted":    func() *fixture { return &fixture{seal: soundEncrypted()} },
	"users":        func() *fixture { return &fixture{seal: soundSigned(), users: true} },
	"restart":      func() *fixture { return &fixture{seal: soundSigned(), restart: true} },
	"single use":   func() *fixture { return &fixture{seal: &once{seal: soundEncrypted(), used: map[string]bool{}}} },
	"no influence": func() *fixture { return &fixture{seal: plain{}, ignore: true, restart: true} },
	"never asks":   func() *fixture { return &fixture{seal: plain{}, silent: true} },
	"random texts": func() *fixture {
		var n atomic.Int64
		return &fixture{seal: soundSigned(), noise: func() string { return "word" + strings.Repeat("x", int(n.Add(1)*7%23)) }}
	},
	"rate-limited": func() *fixture {
		return &fixture{seal: soundSigned(), before: func(next http.Handler) http.Handler { return limited(next, nil) }}
	},
	"refusals in texts": func() *fixture {
		return stateful(soundSigned(), func(state string) string { return "published to " + state })
	},
	"encrypted in blocks":      func() *fixture { return &fixture{seal: chained{soundSigned()}} },
	"in base32":                func() *fixture { return &fixture{seal: lowered{soundSigned()}} },
	"in an envelope":           func() *fixture { return &fixture{seal: enveloped{soundSigned()}} },
	"handles":                  looked(func(handle, text string) bool { return handle == text }),
	"handles with text behind": looked(func(handle, text string) bool { return strings.HasPrefix(text, handle) }),
	"behind a prefix":          func() *fixture { return &fixture{seal: prefixed{soundSigned(), false}} },
	"times in front":           func() *fixture { return &fixture{seal: expiring{soundSigned(), true}} },
	"rounds in order":          stepped(""),
	"rounds with a list":       stepped("ways"), // not a flaw
	"rounds with bounds kept":  stepped("clamps"),
	"bounds held each time":    stepped("insists"),
	"bounds that widen":        stepped("widens"),
	"rounds with a number":     stepped("counts"),
	"single use by id":         func() *fixture { return &fixture{seal: remembering(soundSigned(), 1000, bodyOnly)} },
	"short-lived":              func() *fixture { s := soundSigned(); s.ttl = 3 * time.Second; return &fixture{seal: s} },
}

// TestSound reviews sound servers with and without effects. No check may refute one, and without
// effects no tool may run to its end.
func TestSound(t *testing.T) {
	t.Parallel()
	for name, build := range sound {
		for mode, change := range map[string]func(*review.Options){"safe": nil, "effects": withEffects} {
			if !*all && mode == "effects" && !slices.Contains([]string{"signed", "refusals in texts", "rounds in order", "rounds with a list", "bounds held each time", "bounds that widen", "single use by id"}, name) {
				continue // TestUnbroken covers effects as well
			}
			sample := "no influence/safe" // the shortest review
			if testenv.Race() {
				sample = "users/safe"
			}
			if testenv.Sample() && !*all && name+"/"+mode != sample {
				continue
			}
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				f := build()
				report := reviewed(t, f, func(o *review.Options) {
					if f.users {
						twoUsers(o)
					}
					if change != nil {
						change(o)
					}
				})
				// With this SDK every server asks clients that cannot answer.
				found := refutedBy(report, review.Critical, review.Warning)
				delete(found, "RS-CAP")
				require.Empty(t, found, describe(report))
				if mode == "safe" {
					require.Zero(t, f.runs.Load(), "a tool ran to its end")
				}
				t.Log(describe(report))
			})
		}
	}
}

// TestRenewedReceipts reviews sound servers that give equal calls one receipt, and another one after
// some runs.
func TestRenewedReceipts(t *testing.T) {
	t.Parallel()
	for _, runs := range []int64{3, 5, 8, 13} {
		f := stepped("counts")()
		f.noise = func() string { return "receipt " + string(rune('a'+f.runs.Load()/runs)) }
		report := reviewed(t, f, func(o *review.Options) { o.Effects, o.Checks = true, []string{"RS-FORM"} })
		require.NotContains(t, refutedBy(report, review.Critical, review.Warning), "RS-FORM", "%d runs: %s", runs, describe(report))
	}
}

// TestInflatedWithALimit reviews a server that inflates states up to a limit. The race detector
// distorts the time of that.
func TestInflatedWithALimit(t *testing.T) {
	testenv.SkipSample(t)
	report := reviewed(t, &fixture{seal: packed{soundSigned(), 1 << 20}}, func(o *review.Options) {
		o.Effects, o.Checks = true, []string{"RS-SIZE"}
	})
	require.Empty(t, report.Findings, describe(report))
}

// TestNotTested checks that the checks are not tested if the state of a server cannot be judged.
func TestNotTested(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no influence", "never asks", "restart"} {
		t.Run(name, func(t *testing.T) {
			report := reviewed(t, sound[name](), nil)
			for _, o := range report.Outcomes {
				if strings.HasPrefix(o.Check, "RS-TAMPER") {
					require.Equal(t, review.NotTested, o.Outcome, describe(report))
					require.NotEmpty(t, o.Reason)
				}
			}
		})
	}
}

// TestInterrupted ends the context of a review of an unprotected server, once after the first check
// and once within it.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	run := func(stop func(o *review.Options, cancel func())) *review.Report {
		f := &fixture{seal: plain{}}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		o := review.Options{Target: client.Target{URL: f.start(t)}, Checks: []string{"RS-TAMPER", "RS-FORGE"}, Seed: 1, Budget: 4000}
		o.Clock = client.Clock{Now: f.clock.Now, Sleep: f.clock.Sleep}
		stop(&o, cancel)
		report, err := review.Run(ctx, checks.All(), o)
		require.NoError(t, err)
		require.Len(t, report.Outcomes, 2)
		return report
	}
	sent := 0
	after := run(func(o *review.Options, cancel func()) {
		o.Record = func(*rawmcp.Exchange) { sent++ }
		o.Log = func(format string, _ ...any) {
			if strings.HasSuffix(format, "(exchanges: %d)") {
				cancel()
			}
		}
	})
	require.Equal(t, review.Refuted, after.Outcomes[0].Outcome, describe(after))
	require.Equal(t, review.ErrInterrupted, after.Outcomes[1].Stopped)
	require.Equal(t, review.NotTested, after.Outcomes[1].Outcome)
	require.NotEmpty(t, after.Findings)

	seen := 0
	within := run(func(o *review.Options, cancel func()) {
		o.Record = func(*rawmcp.Exchange) {
			if seen++; seen == sent-1 {
				cancel()
			}
		}
	})
	require.Empty(t, within.Findings, "an answer that was cut off tells nothing")
	for _, o := range within.Outcomes {
		require.Equal(t, review.ErrInterrupted, o.Stopped)
		require.Equal(t, "the review was interrupted", o.Reason)
	}
}

// TestSlow gives a review two minutes for a server that takes 300 ms per exchange. The critical
// checks must come first, those left over must say so, and a sound server must not be refuted.
func TestSlow(t *testing.T) {
	testenv.SkipSample(t)
	t.Parallel()
	run := func(seal seal) *review.Report {
		f, clock := &fixture{seal: seal}, &fakeClock{now: time.Unix(1_795_164_472, 0)}
		o := review.Options{Target: client.Target{URL: f.start(t)}, Seed: 1, Time: 2 * time.Minute}
		o.Clock = client.Clock{Now: clock.Now, Sleep: clock.Sleep}
		o.Record = func(*rawmcp.Exchange) { _ = clock.Sleep(t.Context(), 300*time.Millisecond) }
		report, err := review.Run(t.Context(), checks.All(), o)
		require.NoError(t, err)
		require.Less(t, report.Exchanges, 410)
		return report
	}
	sound := run(soundSigned())
	require.Empty(t, refutedBy(sound, review.Critical, review.Warning), describe(sound))
	left, critical := 0, true
	for _, o := range sound.Outcomes {
		i := slices.IndexFunc(checks.All(), func(c review.Check) bool { return c.ID == o.Check })
		is := checks.All()[i].Severity == review.Critical && !checks.All()[i].Last
		require.True(t, critical || !is, "%s comes late", o.Check)
		critical = is
		if o.Stopped != nil {
			left++
			require.Equal(t, review.NotTested, o.Outcome)
		}
	}
	require.NotZero(t, left)
	broken := run(plain{})
	require.Equal(t, review.Critical, refutedBy(broken, review.Critical)["RS-FORGE"], describe(broken))
}

// TestAdvice reviews addresses without an MCP server.
func TestAdvice(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		"; it redirects to \"/login\", which is not followed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/login")
			w.WriteHeader(http.StatusFound)
		},
		"; it wants valid credentials":                        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"(HTTP status 404); want the URL of its MCP endpoint": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"; it answers with HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
	} {
		server := httptest.NewServer(answer)
		_, err := review.Run(context.Background(), checks.All(), review.Options{Target: client.Target{URL: server.URL}})
		server.Close()
		require.ErrorContains(t, err, want)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, err := review.Run(context.Background(), checks.All(), review.Options{Target: client.Target{URL: strings.Replace(server.URL, "http:", "https:", 1)}, Limits: rawmcp.Limits{Start: time.Millisecond}})
	require.ErrorContains(t, err, "; the server does not speak TLS: try http")
	server.Close()
	_, err = review.Run(context.Background(), checks.All(), review.Options{Target: client.Target{URL: server.URL}, Limits: rawmcp.Limits{Start: time.Millisecond}})
	require.ErrorContains(t, err, "no server answers at "+strings.TrimPrefix(server.URL, "http://")+": ")
}
