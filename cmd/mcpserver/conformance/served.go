// Package conformance runs the official conformance suite of the Model Context
// Protocol (npm @modelcontextprotocol/conformance 0.2.0-alpha.12) against the
// example server, in its tests. `make conformance` installs the suite beside this
// file. The tests run every scenario of revision 2026-07-28: those that the
// revision requires, later ones, and those of extensions.
//
// For each scenario the suite writes a folder server-<scenario>-<time> with a file
// checks.json. The tests are stricter than the suite's exit status: a scenario
// passes only if all its checks succeed. The suite also passes warnings, and
// failures of scenarios that it does not score.
package conformance

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

var address = regexp.MustCompile(`^serving (\S+)$`)

// A Command is the path of the command.
type Command string

// Build builds the command.
func Build(t *testing.T) Command {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sealab")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", path, "sealab/cmd/sealab").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return Command(path)
}

// HTTP starts the server on a free port of this machine with the given further
// arguments and returns its URL. When the test ends the server gets SIGTERM,
// and must end with status 0 and without a word on standard output.
func (c Command) HTTP(t *testing.T, args ...string) string {
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

// Stdio returns the command as a server over standard input and output.
func (c Command) Stdio() *exec.Cmd {
	cmd := exec.Command(string(c), "serve")
	cmd.Stderr = os.Stderr
	return cmd
}
