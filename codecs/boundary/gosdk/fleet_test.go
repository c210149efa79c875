package gosdk_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/codecs/mcppy"
	"sealab/codecs/mcpts"
	"sealab/internal/testenv"
)

// A foreignServer is a server of another SDK with the tool greet.
type foreignServer struct {
	needs   string // a file that exists in the folder once the SDK is installed
	command []string
	// policy returns the policy of a Go server with the same key.
	policy func(t *testing.T, key []byte) boundary.Policy
}

var foreignServers = map[string]foreignServer{
	"py": {
		needs:   filepath.Join(".venv", "installed"),
		command: []string{filepath.Join(".venv", "bin", "python"), "server.py"},
		policy: func(t *testing.T, key []byte) boundary.Policy {
			scheme, err := mcppy.New(boundary.DefaultTTL, key)
			require.NoError(t, err)
			return boundary.Policy{Scheme: scheme}
		},
	},
	"ts": {
		needs:   filepath.Join("node_modules", ".installed"),
		command: []string{"node", "server.mjs"},
		policy: func(t *testing.T, key []byte) boundary.Policy {
			scheme, err := mcpts.Design.OpenScheme(codecs.Config{Secrets: [][]byte{key}})
			require.NoError(t, err)
			return boundary.Policy{Scheme: scheme}
		},
	},
}

// TestFleetOfTwoLanguages sends the second round to the server of the other
// language, in both directions. It repeats this under another key.
func TestFleetOfTwoLanguages(t *testing.T) {
	for name, p := range foreignServers {
		t.Run(name, func(t *testing.T) {
			there := p.start(t, name, secret(1))
			here := p.here(t, secret(1))
			other := p.here(t, secret(9))
			require.Equal(t, "Hello, Ada", answer(t, here, ask(t, there)))
			require.Equal(t, "Hello, Ada", answer(t, there, ask(t, here)))
			require.Equal(t, "Invalid or expired requestState", answer(t, other, ask(t, there)))
			require.Equal(t, "Invalid or expired requestState", answer(t, there, ask(t, other)))
		})
	}
}

// start starts the server.
func (p foreignServer) start(t *testing.T, name string, key []byte) *mcp.ClientSession {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", "..", "sdk", name))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(folder, p.needs)); err != nil {
		testenv.Skip(t, "the SDK %s is not installed: make sdks", name)
	}
	cmd := exec.Command(p.command[0], append(p.command[1:len(p.command):len(p.command)], base64.StdEncoding.EncodeToString(key))...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	return connect(t, &mcp.CommandTransport{Command: cmd}, manual(), "")
}

// here connects to a Go server with the same key.
func (p foreignServer) here(t *testing.T, key []byte) *mcp.ClientSession {
	t.Helper()
	policy := p.policy(t, key)
	policy.Logger = slog.New(slog.DiscardHandler)
	server := greeter(t, policy)
	one, two := mcp.NewInMemoryTransports()
	_, err := server.Connect(context.Background(), one, nil)
	require.NoError(t, err)
	return connect(t, two, manual(), "")
}

// greeter returns the same server in Go.
func greeter(t *testing.T, p boundary.Policy) *mcp.Server {
	t.Helper()
	impl := &mcp.Implementation{Name: service, Version: "1"}
	server := mcp.NewServer(impl, nil)
	_, err := gosdk.Protect(server, impl, p)
	require.NoError(t, err)
	mcp.AddTool(server, &mcp.Tool{Name: "greet"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if form, ok := req.Params.InputResponses["name"].(*mcp.ElicitResult); ok && req.Params.RequestState == question {
			return &mcp.CallToolResult{Content: said("Hello, " + form.Content["name"].(string))}, nil, nil
		}
		return &mcp.CallToolResult{RequestState: question, InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{
			Mode: "form", Message: "Your name?", RequestedSchema: map[string]any{"type": "object"},
		}}}, nil, nil
	})
	return server
}

// ask performs the first round and returns the token.
func ask(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "greet", Arguments: map[string]any{}})
	require.NoError(t, err)
	require.True(t, res.NeedsInput())
	return res.RequestState
}

// answer performs the second round and returns the text of the result or
// refusal.
func answer(t *testing.T, session *mcp.ClientSession, token string) string {
	t.Helper()
	res, err := session.CallTool(context.Background(), &mcp.CallToolParams{
		Name: "greet", Arguments: map[string]any{}, RequestState: token,
		InputResponses: mcp.InputResponseMap{"name": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}},
	})
	if err != nil {
		const prefix = `calling "tools/call": `
		require.Contains(t, err.Error(), prefix)
		return err.Error()[len(prefix):]
	}
	return res.Content[0].(*mcp.TextContent).Text
}
