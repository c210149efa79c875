//lint:file-ignore SA1019 servers ask for sampling and roots until these are gone

package gosdk_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
)

// TestHandlersThatWriteOverArguments checks that a token is bound to the
// received arguments, even if a handler overwrites them in the first round or
// the next.
func TestHandlersThatWriteOverArguments(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	ask := b.next
	b.next = func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		clear(req.GetParams().(*mcp.CallToolParamsRaw).Arguments)
		return ask(ctx, method, req)
	}
	c := calls[0]
	c.token = b.mint(c)
	for range 2 {
		res, err := b.call(c)
		require.NoError(t, err)
		c.token = tokenOf(res)
	}
}

// TestPanicsOfHandlersPass checks that the panic of a handler passes the
// boundary, and that the token stays used up.
func TestPanicsOfHandlersPass(t *testing.T) {
	store, err := boundary.NewMemory(10, 10)
	require.NoError(t, err)
	b := newBench(t, boundary.Policy{Store: store})
	c := calls[0]
	c.token = b.mint(c)
	b.next = func(context.Context, string, mcp.Request) (mcp.Result, error) { panic("the handler's own") }
	require.PanicsWithValue(t, "the handler's own", func() { _, _ = b.call(c) })
	_, err = b.call(c)
	requireRefused(t, err)
	require.NotContains(t, b.log.String(), "the handler's own")
}

// TestHugeStates sends a state of a megabyte in each direction over HTTP.
func TestHugeStates(t *testing.T) {
	huge := strings.Repeat("A", 1<<20)
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	mcp.AddTool(server, &mcp.Tool{Name: "huge"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{RequestState: huge, InputRequests: mcp.InputRequestMap{}}, nil, nil
	})
	session := connect(t, overHTTP(serveHTTP(t, server), "alice"), manual(), "")
	_, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "huge"})
	require.ErrorContains(t, err, "Internal error")
	for _, state := range []string{huge, "sa1." + huge} {
		_, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "greet", RequestState: state})
		require.ErrorContains(t, err, "Invalid or expired requestState")
	}
	require.Empty(t, seen.take())
}

// TestEveryKindOfInput asks for all kinds of input at once, and then for
// another round without input.
func TestEveryKindOfInput(t *testing.T) {
	server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	requests := mcp.InputRequestMap{
		"form":   &mcp.ElicitParams{Mode: "form", Message: "Your name?", RequestedSchema: map[string]any{"type": "object"}},
		"sample": &mcp.CreateMessageWithToolsParams{MaxTokens: 10, Messages: []*mcp.SamplingMessageV2{}},
		"roots":  &mcp.ListRootsParams{},
	}
	mcp.AddTool(server, &mcp.Tool{Name: "all"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		switch got := req.Params.InputResponses; req.Params.RequestState {
		case "":
			return &mcp.CallToolResult{RequestState: "asked", InputRequests: requests}, nil, nil
		case "asked":
			return &mcp.CallToolResult{RequestState: fmt.Sprint("answers: ", len(got))}, nil, nil
		default:
			return &mcp.CallToolResult{Content: said(req.Params.RequestState)}, nil, nil
		}
	})
	options := &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Content: said("sampled")[0], Model: "m", Role: "assistant"}, nil
		},
	}
	session := connect(t, overHTTP(serveHTTP(t, server), "alice"), options, "")
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "all"})
	require.NoError(t, err)
	require.Equal(t, said("answers: 3"), res.Content)
}

// TestRotationUnderLoad sends the rounds of many users to two servers that
// share a store. One server has the ring in the opposite order. Exactly one
// presentation of each token must be accepted.
func TestRotationUnderLoad(t *testing.T) {
	const users, presentations = 8, 6
	store, err := boundary.NewMemory(1000, 1000)
	require.NoError(t, err)
	var urls [2]string
	for i, ring := range [][][]byte{{secret(1), secret(2)}, {secret(2), secret(1)}} {
		server, _ := newServer(boundary.Policy{Secrets: ring, Store: store})
		urls[i] = serveHTTP(t, server).URL
	}
	var all sync.WaitGroup
	var accepted, refused [users]atomic.Int32
	for i := range users {
		var sessions [2]*mcp.ClientSession
		for at, url := range urls {
			sessions[at] = connect(t, transportTo(url, fmt.Sprint("user", i)), manual(), "")
		}
		asked, err := sessions[i%2].CallTool(context.Background(), &mcp.CallToolParams{Name: "work"})
		require.NoError(t, err)
		for p := range presentations {
			all.Go(func() {
				_, err := sessions[p%2].CallTool(context.Background(), &mcp.CallToolParams{Name: "work", RequestState: asked.RequestState})
				if err == nil {
					accepted[i].Add(1)
				} else if assert.ErrorContains(t, err, "Invalid or expired requestState") {
					refused[i].Add(1)
				}
			})
		}
	}
	all.Wait()
	for i := range users {
		require.EqualValues(t, 1, accepted[i].Load(), "user %d", i)
		require.EqualValues(t, presentations-1, refused[i].Load(), "user %d", i)
	}
	require.Equal(t, users, store.Len())
}
