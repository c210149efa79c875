package review_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/broken/mcp"
	"sealab/internal/testenv"
)

// TestFindingsOfTimeShowAgain reviews a server that does not notify the first subscriber of a
// change, as may happen on a busy machine. That must not be a finding. A server that never notifies
// must be refuted.
func TestFindingsOfTimeShowAgain(t *testing.T) {
	t.Parallel()
	for name, heals := range map[string]bool{"once": true, "always": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang := 100 * time.Millisecond
			if heals {
				hang = 2 * time.Second // the second subscriber is notified
			}
			clock := &fakeClock{now: time.Unix(1_795_164_472, 0)}
			s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: client.SystemClock().Sleep}, "changes not told")
			var subscribers atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Mcp-Method") == "subscriptions/listen" && subscribers.Add(1) == 2 && heals {
					s.Repair()
				}
				s.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			o := review.Options{Target: client.Target{URL: server.URL + "/mcp"}, Checks: []string{"L-CHANGED"}, Effects: true, Changes: "grow", Hang: hang, Seed: 1}
			report, err := review.Run(context.Background(), checks.All(), o)
			require.NoError(t, err)
			if heals {
				require.Empty(t, report.Findings, describe(report))
				require.Contains(t, strings.Join(report.Notes, "\n"), "seen once; in a new attempt it does not show")
				return
			}
			require.Contains(t, refutedBy(report, review.Suggestion), "L-CHANGED", describe(report))
			require.EqualValues(t, 3, subscribers.Load())
		})
	}
}

// TestSlowStart reviews a server that begins to listen after a time on the test's clock.
func TestSlowStart(t *testing.T) {
	testenv.SkipRace(t)
	for _, x := range []struct {
		start, takes time.Duration
		reviewed     bool
	}{{0, 20 * time.Second, true}, {0, 40 * time.Second, false}, {time.Minute, 40 * time.Second, true}, {5 * time.Second, 20 * time.Second, false}} {
		address := net.JoinHostPort("127.0.0.1", freePort(t))
		clock := &fakeClock{now: time.Unix(1_795_164_472, 0)}
		began, listens := clock.now, false
		server := httptest.NewUnstartedServer(mcp.New(mcp.Clock{Now: clock.Now, Sleep: clock.Sleep}))
		sleep := func(ctx context.Context, d time.Duration) error {
			if err := clock.Sleep(ctx, d); err != nil || listens || clock.Now().Sub(began) < x.takes {
				return err
			}
			l, err := net.Listen("tcp", address)
			if err != nil {
				return err
			}
			server.Listener.Close()
			server.Listener, listens = l, true
			server.Start()
			return nil
		}
		o := review.Options{Target: client.Target{URL: "http://" + address + "/mcp"}, Checks: []string{"RS-TAMPER"}, Seed: 1, Clock: client.Clock{Now: clock.Now, Sleep: sleep}}
		o.Limits.Start = x.start
		report, err := review.Run(context.Background(), checks.All(), o)
		server.Close()
		require.Equal(t, x.reviewed, err == nil, "%v: %v", x, err)
		if x.reviewed {
			require.Empty(t, report.Findings)
		}
	}
}
