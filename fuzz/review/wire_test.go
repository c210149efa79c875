package review_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/serve"
	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// serverVariable is an environment variable that makes the test binary a server on standard streams
// with the named faults.
const serverVariable = "REVIEW_TEST_SERVER"

func TestMain(m *testing.M) {
	if faults, ok := strings.CutPrefix(os.Getenv(serverVariable), "mcp:"); ok {
		serveFaults(strings.Split(faults, " + "))
		return
	}
	if os.Getenv(serverVariable) == "serve" {
		if err := serve.New("sealab serve").Execute(); err != nil {
			os.Exit(2)
		}
		return
	}
	// Without the race detector, reviews mostly wait, so more of them run at once than there are
	// processors. The flag -parallel overrides this.
	if !testenv.Race() {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// guarded refuses requests with a foreign Origin.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// rewriting changes each request before it passes it on.
func rewriting(change func(r *http.Request)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	}
}

// TestTransport reviews HTTP servers with one fault each. The SDK itself fails the checks in sdk.
// Under -short only the sound server gets other checks than its own.
func TestTransport(t *testing.T) {
	t.Parallel()
	sdk := []string{"H-VER", "H-NAME64", "H-TWICE", "H-LASTID", "H-JSON", "H-PARAMS", "H-ID", "H-RESULT", "H-CODES"}
	for i, c := range []struct {
		name   string
		before func(http.Handler) http.Handler
		want   []string
	}{
		{"sound", guarded, nil},
		{"any origin", nil, []string{"H-ORIGIN", "S-ORIGIN"}},
		{"any host", func(next http.Handler) http.Handler {
			return guarded(rewriting(func(r *http.Request) { r.Host = "127.0.0.1" })(next))
		}, []string{"H-HOST"}},
		{"any reader", func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Access-Control-Allow-Origin", "https://evil.example")
				guarded(next).ServeHTTP(w, r)
			})
		}, []string{"H-CORS"}},
		{"any type", func(next http.Handler) http.Handler {
			return guarded(rewriting(func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })(next))
		}, []string{"H-TYPE"}},
		{"any name", func(next http.Handler) http.Handler {
			return guarded(rewriting(func(r *http.Request) {
				if r.Header.Get("Mcp-Method") == "tools/call" {
					r.Header.Set("Mcp-Name", "sealab-no-such-tool")
				}
			})(next))
		}, []string{"H-NAME"}},
		{"sessions repeated", func(next http.Handler) http.Handler {
			return guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if id := r.Header.Get("Mcp-Session-Id"); id != "" {
					w.Header().Set("Mcp-Session-Id", id)
				}
				next.ServeHTTP(w, r)
			}))
		}, []string{"H-SESSION"}},
		{"notifications answered", func(next http.Handler) http.Handler {
			return guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Header.Get("Mcp-Method"), "notifications/") {
					fmt.Fprint(w, `{"jsonrpc":"2.0"}`)
					return
				}
				next.ServeHTTP(w, r)
			}))
		}, []string{"H-202"}},
	} {
		if testenv.Sample() && i%4 > 0 {
			continue // one in four
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report := reviewed(t, &fixture{seal: soundSigned(), before: c.before}, func(o *review.Options) {
				if o.Checks = c.want; c.want == nil || !testing.Short() {
					o.Checks = []string{"H", "S", "A", "T", "P", "R", "L"}
				}
			})
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range c.want {
				require.Contains(t, found, id, describe(report))
				delete(found, id)
			}
			for _, id := range sdk {
				delete(found, id)
			}
			for id, s := range found {
				if s == review.Suggestion {
					delete(found, id)
				}
			}
			require.Empty(t, found, describe(report))
		})
	}
}

// TestBoundary reviews a server behind the boundary of this project. No check of states may refute
// it, and no tool may run. A sample has some of the checks, and
// -short one of them.
func TestBoundary(t *testing.T) {
	t.Parallel()
	f := &fixture{seal: plain{}, clock: nil}
	f.around = func(s *mcp.Server) {
		secret := []byte("0123456789abcdef0123456789abcdef")
		_, err := gosdk.Protect(s, &mcp.Implementation{Name: "fixture"}, boundary.Policy{Secrets: [][]byte{secret}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
	}
	report := reviewed(t, f, func(o *review.Options) {
		if testenv.Sample() {
			o.Checks = []string{"RS-TAMPER", "RS-FORGE", "RS-TOOL", "RS-ARGS"}
		}
		if testing.Short() {
			o.Checks = o.Checks[:1]
		}
	})
	found := refutedBy(report, review.Critical, review.Warning)
	delete(found, "RS-CAP")
	require.Empty(t, found, describe(report))
	require.Zero(t, f.runs.Load())
	for _, o := range report.Outcomes {
		if o.Check == "RS-TAMPER" || o.Check == "RS-FORGE" || o.Check == "RS-TOOL" {
			require.Equal(t, review.NotRefuted, o.Outcome, describe(report))
		}
	}
}

// TestRepair replays findings on the server that has them, and again after its repair. Under -short it
// replays two of them.
func TestRepair(t *testing.T) {
	t.Parallel()
	ids := []string{"RS-TOOL", "RS-TAMPER", "RS-FORGE", "RS-ARGS"}
	if testing.Short() {
		ids = ids[:2]
	}
	f := &fixture{seal: plain{}}
	target := ""
	first := reviewed(t, f, func(o *review.Options) {
		o.Checks, target = ids, o.Target.URL
	})
	require.Len(t, first.Findings, len(ids), describe(first))
	again := func(x review.Finding) review.Outcome {
		report, err := review.Run(context.Background(), checks.All(), review.Options{Target: client.Target{URL: target}, Checks: []string{x.Check}, Case: x.Case, Flows: first.Flows, Seed: 1})
		require.NoError(t, err)
		return report.Outcomes[0]
	}
	for _, x := range first.Findings {
		require.Equal(t, review.Refuted, again(x).Outcome, x.Check)
	}
	f.seal = soundSigned()
	for _, x := range first.Findings {
		require.NotEqual(t, review.Refuted, again(x).Outcome, x.Check)
	}
}

// TestCredentials checks that reports and records omit credentials. A sample has one check of
// states.
func TestCredentials(t *testing.T) {
	t.Parallel()
	var record strings.Builder
	f := &fixture{seal: plain{}, users: true}
	report := reviewed(t, f, func(o *review.Options) {
		twoUsers(o)
		o.Checks = []string{"RS", "H", "S"}
		if testenv.Sample() {
			o.Checks[0] = "RS-FORGE"
		}
		o.Record = func(e *rawmcp.Exchange) { fmt.Fprintf(&record, "%s %s\n", e.Sent, e.Received) }
	})
	raw, err := json.Marshal(report)
	require.NoError(t, err)
	require.NotEmpty(t, report.Findings)
	require.NotContains(t, string(raw), "alice")
	require.NotContains(t, record.String(), "alice")
	require.Contains(t, record.String(), "<header A>")
}
