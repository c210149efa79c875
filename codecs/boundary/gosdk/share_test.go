package gosdk_test

import (
	"context"
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

// flow sends a tools/call that returns a state, and the tools/call that ends
// it.
func flow(t *testing.T, url string) (token string) {
	t.Helper()
	_, rest, found := strings.Cut(post(t, url, "work", "{}", `null`), `"requestState":"`)
	require.True(t, found)
	token, _, _ = strings.Cut(rest, `"`)
	require.Contains(t, post(t, url, "work", "{}", `"`+token+`"`), "half done, done")
	return token
}

// addLongWork adds the tool of addWork with a state as long as a token. Its
// results are marked as the boundary marks them.
func addLongWork(server *mcp.Server, state string) {
	mcp.AddTool(server, &mcp.Tool{Name: "work"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if req.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{}}, nil, nil
		}
		return &mcp.CallToolResult{Content: said("half done, done")}, nil, nil
	})
}

// TestShareOfTheRequest measures a flow of two requests over HTTP on loopback.
// It interleaves the SDK alone, the SDK alone with a state as long as a token,
// and the SDK with the boundary. It prints the times and the allocations of
// both ends. "make share" runs thousands of flows.
func TestShareOfTheRequest(t *testing.T) {
	alone := mcp.NewServer(&mcp.Implementation{Name: service, Version: "1"}, nil)
	addAsking(alone, &states{})
	addWork(alone, &states{})
	protected, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	urls := []string{serveHTTP(t, alone).URL, "", serveHTTP(t, protected).URL}
	require.Equal(t, "half done", flow(t, urls[0]), "the SDK alone hides no state")
	token := flow(t, urls[2])
	require.NotContains(t, token, "half done")
	long := mcp.NewServer(&mcp.Implementation{Name: service, Version: "1"}, nil)
	addAsking(long, &states{})
	addLongWork(long, token)
	urls[1] = serveHTTP(t, long).URL

	var took [3][]time.Duration
	var allocations [3]uint64
	var before, after runtime.MemStats
	for i := range *share {
		for j := range urls {
			which := (i + j) % len(urls) // rotate which one goes first
			runtime.ReadMemStats(&before)
			start := time.Now()
			flow(t, urls[which])
			took[which] = append(took[which], time.Since(start))
			runtime.ReadMemStats(&after)
			allocations[which] += after.Mallocs - before.Mallocs
		}
	}
	n := uint64(*share)
	t.Logf("%d flows of two requests: the SDK alone takes %v and %d allocations", n, median(took[0]), allocations[0]/n)
	for i, name := range []string{"a state as long as a token adds", "the boundary adds to that"} {
		added := make([]time.Duration, *share)
		for k := range added {
			added[k] = took[i+1][k] - took[i][k]
		}
		more := median(added)
		t.Logf("%s %v (%.1f %%) and %d allocations", name, more, 100*float64(more)/float64(median(took[0])), int64(allocations[i+1]/n)-int64(allocations[i]/n))
	}
}

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}
