package example_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/served"
)

// TestCommand runs the command as a client does.
func TestCommand(t *testing.T) {
	command := served.Build(t)
	requireAll(t, connect(t, &mcp.CommandTransport{Command: command.Stdio()}, ""))
	requireAll(t, connect(t, &mcp.StreamableClientTransport{Endpoint: command.HTTP(t, "--single-use", "100"), DisableStandaloneSSE: true}, ""))
}

// TestStdoutIsJSONRPC reads standard output to its end, and ends the server by
// a signal.
func TestStdoutIsJSONRPC(t *testing.T) {
	command := served.Build(t)
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd := command.Stdio()
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = fmt.Fprintln(in, discover)
		require.NoError(t, err)
		lines := bufio.NewReader(out)
		line, err := lines.ReadBytes('\n')
		require.NoError(t, err)
		var message struct{ JSONRPC string }
		require.NoError(t, json.Unmarshal(line, &message))
		require.Equal(t, "2.0", message.JSONRPC)

		require.NoError(t, cmd.Process.Signal(signal))
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.Empty(t, string(rest))
		require.NoError(t, cmd.Wait(), "status after %v", signal)
	}
}
