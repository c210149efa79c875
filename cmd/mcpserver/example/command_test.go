package example_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/cmd/mcpserver/conformance"
	"sealab/internal/testenv"
)

// TestCommand runs the command as clients do.
func TestCommand(t *testing.T) {
	if testenv.Sample() {
		testenv.Skip(t, "-short or -race: it builds the command; make test runs it whole")
	}
	command := conformance.Build(t)
	t.Run("client", func(t *testing.T) {
		requireAll(t, connect(t, &mcp.CommandTransport{Command: command.Stdio()}, ""))
		requireAll(t, connect(t, &mcp.StreamableClientTransport{Endpoint: command.HTTP(t, "--single-use", "100"), DisableStandaloneSSE: true}, ""))
	})
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) { requireOnlyJSON(t, command.Stdio(), signal) })
	}
}

// requireOnlyJSON reads standard output of a server to its end, and ends it by a
// signal.
func requireOnlyJSON(t *testing.T, cmd *exec.Cmd, signal os.Signal) {
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
