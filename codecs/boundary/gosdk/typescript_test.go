package gosdk_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/internal/testenv"
)

// A report is the output of the TypeScript client.
type report struct {
	Tool, Prompt, Resource, Work string
	Version, ResultType, Token   string
	Refused                      []json.RawMessage
}

// typeScript runs the client of the TypeScript SDK.
func typeScript(t *testing.T, mode, server string) (r report) {
	t.Helper()
	folder := filepath.Join("..", "..", "sdk", "ts-client")
	node, err := exec.LookPath("node")
	if err != nil {
		testenv.Skip(t, "node is not on this machine")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", ".installed")); err != nil {
		testenv.Skip(t, "@modelcontextprotocol/client is not installed: make sdks")
	}
	cmd := exec.Command(node, "client.mjs", mode, server)
	cmd.Env = append(os.Environ(), serverVariable+"=1")
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	require.Equal(t, "Hello, Ada", r.Tool)
	require.Equal(t, "Hello, Ada", r.Prompt)
	require.Equal(t, "Hello, Ada", r.Resource)
	return r
}

func TestTypeScriptClient(t *testing.T) {
	server, seen := newServer(boundary.Policy{Secrets: [][]byte{secret(1)}})
	r := typeScript(t, "http", serveHTTP(t, server).URL)
	require.Equal(t, "half done, done", r.Work)
	require.Equal(t, "input_required", r.ResultType)
	require.NotContains(t, r.Token, question)
	require.Len(t, r.Refused, 3)
	for _, refused := range r.Refused {
		require.JSONEq(t, `{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}`, string(refused))
	}
	require.NotContains(t, seen.take(), r.Token, "a handler saw a token")
}

func TestTypeScriptClientOfAnOlderRevision(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	require.Equal(t, "2025-11-25", typeScript(t, "stdio", self).Version)
}
