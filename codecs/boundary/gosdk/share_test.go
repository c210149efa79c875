package gosdk_test

import (
	"flag"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

var share = flag.Int("share", 10, "flows through a server with the boundary and one without it")

// A flow is a tools/call that hands its work on, and the tools/call that ends it.
func flow(t *testing.T, url string) (token string) {
	t.Helper()
	_, rest, found := strings.Cut(rawCall(t, url, "work", `null`), `"requestState":"`)
	require.True(t, found)
	token, _, _ = strings.Cut(rest, `"`)
	require.Contains(t, rawCall(t, url, "work", `"`+token+`"`), "half done, done")
	return token
}

// TestShareOfTheRequest takes a flow of two requests over HTTP on loopback through
// the SDK alone and through the SDK with the boundary, in turn. It prints the times
// and the allocations of both ends. make share takes thousands.
func TestShareOfTheRequest(t *testing.T) {
	alone := mcp.NewServer(&mcp.Implementation{Name: service, Version: "1"}, nil)
	addAsking(alone, &states{})
	addWork(alone, &states{})
	protected, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	urls := []string{serveHTTP(t, alone).URL, serveHTTP(t, protected).URL}
	require.Equal(t, "half done", flow(t, urls[0]), "the SDK alone hides no state")
	require.NotContains(t, flow(t, urls[1]), "half done")

	var took [2][]time.Duration
	var allocations [2]uint64
	var before, after runtime.MemStats
	for i := range *share {
		for j := range urls {
			which := (i + j) % 2 // each goes first in turn
			runtime.ReadMemStats(&before)
			start := time.Now()
			flow(t, urls[which])
			took[which] = append(took[which], time.Since(start))
			runtime.ReadMemStats(&after)
			allocations[which] += after.Mallocs - before.Mallocs
		}
	}
	added := make([]time.Duration, *share)
	for i := range added {
		added[i] = took[1][i] - took[0][i]
	}
	median := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)/2]
	}
	sdk, more, n := median(took[0]), median(added), uint64(*share)
	t.Logf("%d flows of two requests: the SDK alone takes %v and %d allocations, the boundary adds %v (%.1f %%) and %d", n,
		sdk, allocations[0]/n, more, 100*float64(more)/float64(sdk), int64(allocations[1]/n)-int64(allocations[0]/n))
}
