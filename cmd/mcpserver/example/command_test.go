package example_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// TestCommand runs the command as clients do.
func TestCommand(t *testing.T) {
	if testenv.Sample() {
		testenv.Skip(t, "-short or -race: it builds the command; make matrices runs it whole")
	}
	command := buildCommand(t)
	t.Run("client", func(t *testing.T) {
		requireAll(t, connect(t, &mcp.CommandTransport{Command: command.stdio()}, ""))
		requireAll(t, connect(t, &mcp.StreamableClientTransport{Endpoint: command.http(t, "--single-use", "100"), DisableStandaloneSSE: true}, ""))
	})
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) { requireOnlyJSON(t, command.stdio(), signal) })
	}
}

// requireOnlyJSON reads the standard output of a server to its end, and stops the server with a
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

var address = regexp.MustCompile(`^serving (\S+)$`)

// A builtCommand is the path of the built command sealab.
type builtCommand string

// buildCommand builds the command sealab.
func buildCommand(t *testing.T) builtCommand {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sealab")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "sealab/cmd/sealab").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return builtCommand(path)
}

// http starts the server on a free port of this machine with further arguments and returns its URL.
// When the test ends, the server gets SIGTERM. It must exit with status 0 and write nothing to
// standard output.
func (c builtCommand) http(t *testing.T, args ...string) string {
	t.Helper()
	var stdout bytes.Buffer
	cmd := exec.Command(string(c), append([]string{"serve", "--http", "localhost:0"}, args...)...)
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stderr)
	url := ""
	for url == "" && lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	drained := make(chan struct{})
	go func() { // the log would fill the pipe
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		<-drained
		require.NoError(t, cmd.Wait(), "the server ends cleanly")
		require.Empty(t, stdout.String())
	})
	require.NotEmpty(t, url, "the server said no address")
	return url
}

// stdio returns the command as a server over standard input and output.
func (c builtCommand) stdio() *exec.Cmd {
	cmd := exec.Command(string(c), "serve")
	cmd.Stderr = os.Stderr
	return cmd
}
