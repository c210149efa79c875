package review_test

import (
	"bufio"
	"context"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/command"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// A foreign is a server on the SDK of another language. The checks in refuted must record findings,
// and those in stands must not.
type foreign struct {
	name    string
	command []string // PORT stands for the port, FOLDER for a new folder
	env     string
	users   bool
	effects bool
	refuted []string
	stands  []string
}

// tampering are the checks that refute a server with unprotected states.
var tampering = []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-ARGS"}

// foreigners are the servers below testdata/servers.
var foreigners = []foreign{
	{name: "ts", command: []string{"node", "ts/server.mjs", "--http", "PORT"}, users: true, effects: true,
		refuted: []string{"RS-ARGS", "RS-TOOL", "RS-USER", "RS-SPELL", "RS-METHOD", "RS-KEY"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT", "RS-UNIFORM", "RS-CAP", "H-ORIGIN", "H-HOST"}},
	{name: "ts-bind", command: []string{"node", "ts/server.mjs", "--http", "PORT", "--mode", "bind"}, users: true,
		refuted: []string{"RS-ARGS", "RS-TOOL", "RS-SPELL"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-USER", "RS-METHOD"}},
	{name: "ts-plain", command: []string{"node", "ts/server.mjs", "--http", "PORT", "--mode", "plain"}, refuted: tampering},
	{name: "ts-restart", command: []string{"node", "ts/server.mjs", "--http", "PORT", "--mode", "restart"}, users: true, effects: true,
		refuted: []string{"RS-ARGS", "RS-TOOL", "RS-USER", "RS-SPELL"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT"}},
	{name: "py", command: []string{"py/.venv/bin/python", "py/server.py", "--http", "PORT", "--auth"}, users: true,
		refuted: []string{"RS-CAP", "H-VERMIS"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT", "RS-SPELL", "RS-ARGS", "RS-USER", "RS-UNIFORM", "RS-TEXT", "H-ORIGIN", "H-HOST"}},
	{name: "py-low", command: []string{"py/.venv/bin/python", "py/low.py", "PORT"}, refuted: append([]string{"RS-TOOL"}, tampering...)},
	{name: "fastmcp", command: []string{"fastmcp/.venv/bin/python", "fastmcp/server.py", "--http", "PORT"},
		refuted: []string{"RS-CAP", "H-ORIGIN", "H-HOST"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT", "RS-SPELL", "RS-ARGS", "RS-TOOL", "RS-UNIFORM"}},
	{name: "rmcp", command: []string{"rust/target/release/lab-rmcp", "PORT"}, env: "TTL=600",
		refuted: []string{"RS-ARGS", "RS-TOOL", "H-ORIGIN"}, stands: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT", "RS-SPELL", "RS-UNIFORM", "H-HOST"}},
	{name: "go", command: []string{"go/bin/plain", "PORT"}, refuted: append([]string{"RS-TOOL", "RS-CAP", "H-VER", "H-NAME64", "H-ORIGIN"}, tampering...), stands: []string{"H-HOST"}},
	{name: "ts1", command: []string{"node", "ts1/server.mjs", "--http", "PORT"}, refuted: []string{"H-ORIGIN"}, stands: []string{"H-HOST"}},
}

// TestServers reviews the installed servers of other languages.
func TestServers(t *testing.T) {
	testenv.SkipSample(t) // each server takes seconds
	for _, f := range foreigners {
		t.Run(f.name, func(t *testing.T) {
			url := f.start(t)
			o := review.Options{Target: client.Target{URL: url}, Checks: []string{"RS", "H"}, Seed: 1, Effects: f.effects, Budget: 4000}
			if f.users {
				twoUsers(&o)
			}
			report, err := review.Run(context.Background(), checks.All(), o)
			require.NoError(t, err)
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range f.refuted {
				require.Contains(t, found, id, describe(report))
			}
			for _, id := range f.stands {
				require.NotContains(t, found, id, describe(report))
			}
			if !f.effects {
				require.Zero(t, report.Ran, "a tool ran to its end")
			}
			for _, o := range report.Outcomes {
				require.False(t, o.Outcome == review.NotTested && slices.Contains(f.stands, o.Check), "%s: %s", o.Check, o.Reason)
			}
			t.Logf("%d exchanges in %.1f s", report.Exchanges, report.Seconds)
		})
	}
}

// A running server has a URL and writes lines to standard error. The channel ended is closed when
// the process has exited.
type running struct {
	url   string
	cmd   *exec.Cmd
	lines chan string
	ended chan struct{}
}

// said waits for a line of standard error that contains one of the words.
func (r *running) said(t *testing.T, words ...string) string {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		select {
		case line := <-r.lines:
			if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
				return line
			}
		case <-timeout:
			t.Fatalf("no line on standard error with one of %q", words)
		}
	}
}

// start starts a server and returns its URL.
func (f foreign) start(t *testing.T) string {
	t.Helper()
	return f.run(t).url
}

// run starts a server and waits until it answers. Another program may take its port first; if the
// server exits, run tries another port.
func (f foreign) run(t *testing.T) *running {
	t.Helper()
	root, program := f.installed(t)
	for range 5 {
		if r := f.runOnPort(t, root, program, freePort(t)); r != nil {
			return r
		}
	}
	t.Fatalf("%s exits as soon as it is started", f.name)
	return nil
}

// installed returns the folder of the servers and the program that runs this one. It skips the test if
// the server is not installed.
func (f foreign) installed(t *testing.T) (root, program string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("testdata", "servers"))
	require.NoError(t, err)
	program, installed := f.program(root)
	if !installed {
		testenv.Skip(t, "%s is not installed; install with: make review-servers", f.name)
	}
	return root, program
}

// program returns the path of the program that runs a server, and whether the server is installed.
// A failed installation leaves the folder without its mark.
func (f foreign) program(root string) (path string, installed bool) {
	path, mark := f.command[0], ""
	switch {
	case path == "node":
		folder, _, found := strings.Cut(f.command[1], "/node_modules/")
		if !found {
			folder = filepath.Dir(f.command[1])
		}
		mark = filepath.Join(root, folder, "node_modules", ".installed")
	case !filepath.IsAbs(path):
		path = filepath.Join(root, path)
		if filepath.Base(path) == "python" {
			mark = filepath.Join(path, "..", "..", "installed")
		}
	}
	path, err := exec.LookPath(path)
	if err == nil && mark != "" {
		_, err = os.Stat(mark)
	}
	return path, err == nil
}

// freePort returns a TCP port of the loopback interface that was free a moment ago. It is below the
// ephemeral ports of common systems.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			require.NoError(t, l.Close())
			return port
		}
	}
	t.Fatal("none of 100 ports is free")
	return ""
}

// runOnPort starts a server and waits until it answers. It returns nil if the server exits first.
func (f foreign) runOnPort(t *testing.T, root, program, port string) *running {
	t.Helper()
	args := slices.Clone(f.command)
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "PORT", port)
	}
	cmd := exec.Command(program, args[1:]...)
	cmd.Dir, cmd.SysProcAttr = root, command.TiedChild()
	cmd.Env = os.Environ()
	if name, value, found := strings.Cut(f.env, "="); found {
		cmd.Env = append(cmd.Env, name+"="+strings.ReplaceAll(value, "PORT", port))
	}
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := &running{url: "http://127.0.0.1:" + port + "/mcp", cmd: cmd, lines: make(chan string, 10_000), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			select {
			case r.lines <- lines.Text():
			default: // drop lines that are not awaited
			}
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = command.KillGroup(cmd.Process)
		<-r.ended
	})
	c, err := rawmcp.NewHTTP(r.url, rawmcp.Limits{})
	require.NoError(t, err)
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		if e := c.Do(context.Background(), rawmcp.Request{Verb: "GET", Path: "/mcp", Headers: []rawmcp.Header{{Name: "Host", Value: c.Host()}}}); e.Status != 0 {
			return r
		}
		select {
		case <-ticks.C:
		case <-r.ended:
			t.Logf("%s exits before it answers on port %s: %s", f.name, port, r.drain())
			return nil
		}
	}
	t.Fatalf("%s does not answer on port %s within five minutes: %s", f.name, port, r.drain())
	return nil
}

// drain returns the unread lines.
func (r *running) drain() string {
	var lines []string
	for {
		select {
		case line := <-r.lines:
			lines = append(lines, line)
		default:
			return strings.Join(lines, "\n")
		}
	}
}
