package example_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/example"
	"sealab/codecs/boundary"
)

// newServer returns the server in this process.
func newServer(t *testing.T) *mcp.Server {
	t.Helper()
	server, _, err := example.New(boundary.Policy{Logger: slog.New(slog.DiscardHandler)}, nil)
	require.NoError(t, err)
	return server
}

// serve serves the server over HTTP and returns its URL.
func serve(t *testing.T, server *mcp.Server, hosts ...string) string {
	t.Helper()
	s := httptest.NewServer(example.Handler(server, hosts, slog.New(slog.DiscardHandler)))
	t.Cleanup(s.Close)
	return s.URL + example.Path
}

// connect connects a client that fills in the forms of the server.
func connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	fill := func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		schema := req.Params.RequestedSchema.(map[string]any)
		content := map[string]any{}
		for field := range schema["properties"].(map[string]any) {
			content[field] = answers[field]
		}
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{ElicitationHandler: fill})
	session, err := client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	return session
}

// answers are the values that the client fills in.
var answers = map[string]any{
	"resolution": "Duplicate", "duplicateOfId": 4301.0,
	"severity": "high", "summary": "the disk was full",
	"reason": "an audit", "ok": true,
}

var workItem = map[string]any{"workItemId": 4522, "fields": map[string]any{"System.State": "Resolved"}}

// requireAll runs a session through all features of the server.
func requireAll(t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	ctx := context.Background()
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"update_work_item", workItem, "Bug #4522 resolved as Duplicate of Bug #4301."},
		{"update_work_item", map[string]any{"workItemId": 1, "fields": map[string]any{"System.Title": "x"}}, "Work item #1 updated."},
		{"count_primes", map[string]any{"below": 25_000}, "There are 2762 primes below 25000."},
	} {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		require.NoError(t, err)
		require.Equal(t, c.want, res.Content[0].(*mcp.TextContent).Text)
	}
	prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "incident_report", Arguments: map[string]string{"service": "mail"}})
	require.NoError(t, err)
	require.Equal(t, "Write the report of a high severity incident of mail: the disk was full", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	resource, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "example://audit-log"})
	require.NoError(t, err)
	require.Equal(t, "The log was read: an audit", resource.Contents[0].Text)
}

func TestRounds(t *testing.T) {
	requireAll(t, connect(t, &mcp.StreamableClientTransport{Endpoint: serve(t, newServer(t)), DisableStandaloneSSE: true}, ""))
}

// TestOlderRevision needs one more round: the SDK calls a handler again on behalf of a client that
// does not know rounds.
func TestOlderRevision(t *testing.T) {
	there, here := mcp.NewInMemoryTransports()
	_, err := newServer(t).Connect(context.Background(), there, nil)
	require.NoError(t, err)
	session := connect(t, here, "2025-11-25")
	answers["resolution"] = "Fixed"
	defer func() { answers["resolution"] = "Duplicate" }()
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "update_work_item", Arguments: workItem})
	require.NoError(t, err)
	require.Equal(t, "Bug #4522 resolved as Fixed.", res.Content[0].(*mcp.TextContent).Text)
}

func TestPrimesLimit(t *testing.T) {
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: serve(t, newServer(t)), DisableStandaloneSSE: true}, "")
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "count_primes", Arguments: map[string]any{"below": 1_000_000}})
	require.NoError(t, err)
	require.True(t, res.IsError)
}
