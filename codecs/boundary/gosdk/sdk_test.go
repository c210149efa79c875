package gosdk_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
)

// These tests check that the SDK behaves as the documentation says. If one
// fails after an upgrade, update the documentation.

type typed struct {
	Found int `json:"found"`
}

// TestTypedTools checks tools with an output type of their own. The SDK adds
// the zero value as content beside the state.
func TestTypedTools(t *testing.T) {
	server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	for name, requests := range map[string]mcp.InputRequestMap{"absent": nil, "empty": {}} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, typed, error) {
			return &mcp.CallToolResult{RequestState: "s", InputRequests: requests}, typed{}, nil
		})
	}
	session := connect(t, overHTTP(serveHTTP(t, server), "alice"), manual(), "")
	_, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "absent"})
	require.ErrorContains(t, err, "Internal error")
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "empty"})
	require.NoError(t, err)
	require.True(t, res.NeedsInput())
}

// TestResourcesWithNilContents checks that the SDK fails them before the
// boundary.
func TestResourcesWithNilContents(t *testing.T) {
	server, _ := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	for name, contents := range map[string][]*mcp.ResourceContents{"nil": nil, "empty": {}} {
		server.AddResource(&mcp.Resource{Name: name, URI: "test://" + name}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{RequestState: "plain", Contents: contents}, nil
		})
	}
	session := connect(t, overHTTP(serveHTTP(t, server), "alice"), manual(), "")
	_, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "test://nil"})
	require.ErrorContains(t, err, "nil information")
	require.NotContains(t, err.Error(), "plain")
	res, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "test://empty"})
	require.NoError(t, err)
	require.True(t, res.NeedsInput())
}

// raw sends a tools/call of greet with the given requestState, as JSON, and returns
// the body of the answer.
func raw(t *testing.T, url, state string) string {
	t.Helper()
	return post(t, url, "greet", "{}", state)
}

// TestStatesThatAreNoTokens checks that null and "" start over. The SDK's
// decoder refuses a value that is not a string before it reaches a handler.
func TestStatesThatAreNoTokens(t *testing.T) {
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	url := serveHTTP(t, server).URL
	for _, state := range []string{`null`, `""`} {
		require.Contains(t, raw(t, url, state), `"input_required"`)
		require.Equal(t, []string{""}, seen.take())
	}
	for _, state := range []string{`5`, `true`, `{}`, `["v1.x"]`} {
		require.Contains(t, raw(t, url, state), `"error":{`)
		require.Empty(t, seen.take())
	}
}

// A lockedLog can be read while a server writes to it.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestSDKLogTellsNothing searches the SDK's own log at debug level for tokens
// and states.
func TestSDKLogTellsNothing(t *testing.T) {
	var log lockedLog
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	impl := &mcp.Implementation{Name: service}
	server := mcp.NewServer(impl, &mcp.ServerOptions{Logger: logger})
	_, err := gosdk.Protect(server, impl, boundary.Policy{Secrets: [][]byte{secret(1)}, Logger: logger})
	require.NoError(t, err)
	addAsking(server, &states{})
	url := serveHTTP(t, server).URL
	_, token, found := strings.Cut(raw(t, url, "null"), `"requestState":"`)
	require.True(t, found)
	token, _, _ = strings.Cut(token, `"`)
	for _, state := range []string{`"` + token + `"`, `"` + token + `x"`, `["` + token + `"]`, `{"` + token + `":1}`, `"` + token + `","inputResponses":7,"x":"`} {
		raw(t, url, state)
	}
	require.NotEmpty(t, log.String())
	require.NotContains(t, log.String(), token[3:40])
	require.NotContains(t, log.String(), question)
}
