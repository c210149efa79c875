package boundary_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/internal/unexercised"
)

// TestTypeScriptClient lets the client of another SDK take the rounds.
func TestTypeScriptClient(t *testing.T) {
	folder := filepath.Join("..", "foreign", "ts-client")
	node, err := exec.LookPath("node")
	if err != nil {
		unexercised.Skip(t, "node is not on this machine")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", ".installed")); err != nil {
		unexercised.Skip(t, "@modelcontextprotocol/client is not installed: make peers")
	}
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	cmd := exec.Command(node, "client.mjs", serveHTTP(t, server).URL)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)

	var report struct {
		Tool, Prompt, Resource, Work, ResultType, Token string
		Refused                                         []json.RawMessage
	}
	require.NoError(t, json.Unmarshal(out, &report), "%s", out)
	require.Equal(t, "Hello, Ada", report.Tool)
	require.Equal(t, "Hello, Ada", report.Prompt)
	require.Equal(t, "Hello, Ada", report.Resource)
	require.Equal(t, "half done, done", report.Work)
	require.Equal(t, "input_required", report.ResultType)
	require.NotContains(t, report.Token, question)
	require.Len(t, report.Refused, 3)
	for _, refused := range report.Refused {
		require.JSONEq(t, `{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}`, string(refused))
	}
	require.NotContains(t, seen.take(), report.Token, "a handler saw a token")
}
