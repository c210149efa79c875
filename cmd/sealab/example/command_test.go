package example_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/cmd/sealab/example/served"
	"sealab/codecs/catalog"
)

// TestCommand runs the command as a client does.
func TestCommand(t *testing.T) {
	requireAll(t, connect(t, &mcp.CommandTransport{Command: served.Stdin(t)}, ""))
	requireAll(t, connect(t, &mcp.StreamableClientTransport{Endpoint: served.HTTP(t, "--single-use", "100"), DisableStandaloneSSE: true}, ""))
}

// TestStdoutIsJSONRPC reads standard output to its end, and ends the server by
// a signal.
func TestStdoutIsJSONRPC(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		cmd := served.Stdin(t)
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

// TestEveryDesign serves under every design of the catalog that takes a ring of
// one key of 32 bytes.
func TestEveryDesign(t *testing.T) {
	key := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(key, []byte("0123456789abcdef0123456789abcdeX"), 0o600))
	command := served.Build(t)
	for _, d := range catalog.All() {
		t.Run(d.Name, func(t *testing.T) {
			session := connect(t, &mcp.CommandTransport{Command: served.Command(command, "--key", key, "--design", d.Name)}, "")
			requireAll(t, session)
		})
	}
}
