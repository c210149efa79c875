package review_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
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

var soundServers = flag.Int("sound", len(kinds), "review so many sound servers in TestManySound")

// kinds are sound servers that are hard to judge.
var kinds = []struct {
	name   string
	faults []string // choices rather than faults
	before func(http.Handler, *fakeClock) http.Handler
}{
	{name: "plain"},
	{name: "readable", faults: []string{"readable and careful"}},
	{name: "slow", before: aging},
	{name: "rate-limited", before: limited},
	{name: "restarting in the middle", before: nil},
	{name: "away for a while", before: away},
	{name: "for more than one use", faults: []string{"used twice"}},
	{name: "random texts", faults: []string{"random texts"}},
}

// slowness is the time that a slow server takes to answer.
const slowness = 150 * time.Millisecond

// aging advances the clock of the server and the review at each request.
func aging(next http.Handler, clock *fakeClock) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if clock.Sleep(r.Context(), slowness) == nil {
			next.ServeHTTP(w, r)
		}
	})
}

// delayed also answers late in real time. A review takes minutes, most of which it waits.
func delayed(next http.Handler, clock *fakeClock) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if client.SystemClock().Sleep(r.Context(), slowness) == nil {
			aging(next, clock).ServeHTTP(w, r)
		}
	})
}

// limited refuses every fifth request with 429.
func limited(next http.Handler, _ *fakeClock) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%5 == 0 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// away closes the connections of three in 300 requests without an answer.
func away(next http.Handler, _ *fakeClock) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%300 > 296 {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(w, r)
	})
}

// TestManySound reviews sound servers with different seeds. None may be refuted beyond a property.
// In the middle of each third review the server restarts.
func TestManySound(t *testing.T) {
	testenv.SkipSample(t)
	t.Parallel()
	for i := range *soundServers {
		kind := kinds[i%len(kinds)]
		if kind.name == "slow" && i/len(kinds)%7 == 6 {
			kind.name, kind.before = "late", delayed
		}
		t.Run(fmt.Sprintf("%d %s", i, kind.name), func(t *testing.T) {
			t.Parallel()
			clock := &fakeClock{now: time.Unix(1_795_164_472, 0)}
			s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: clock.Sleep}, kind.faults...)
			s.Users = true
			var h http.Handler = s
			if kind.before != nil {
				h = kind.before(s, clock)
			}
			if kind.name == "restarting in the middle" {
				var n atomic.Int64
				h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if n.Add(1)%301 == 300 {
						s.Forget()
					}
					s.ServeHTTP(w, r)
				})
			}
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			o := review.Options{Target: client.Target{URL: server.URL + "/mcp"}, Checks: []string{"RS", "H", "T", "R", "P", "C", "S"}, Seed: uint64(i), Budget: 6000, TTL: mcp.TTL, Effects: i%2 == 1}
			twoUsers(&o)
			o.Target.Foreign = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + mcp.Elsewhere}}
			o.Clock = client.Clock{Now: clock.Now, Sleep: clock.Sleep}
			report, err := review.Run(context.Background(), checks.All(), o)
			require.NoError(t, err)
			require.Empty(t, refutedBy(report, review.Critical, review.Warning), "seed %d: %s", i, describe(report))
			if !o.Effects {
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
		})
	}
}
