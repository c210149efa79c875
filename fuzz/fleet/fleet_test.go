//go:build linux

package fleet_test

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/flawed/planted"
	"sealab/internal/child"
	"sealab/internal/testenv"
)

var fleetDir = flag.String("fleet-dir", "", "folder of the coordinator of TestFleet, which goes on with an archive that is there")

// The planted bug that the fleet hunts, and the target that sees it.
const (
	bug    = "short-tag"
	target = "text"
)

// goesOn is more executions than a worker that is dead may have told of before.
const goesOn = 1000

// patience is how long each step of TestFleet may take at most.
const patience = 10 * time.Minute

// TestFleet runs the commands as a person would: a coordinator and two workers
// find a planted bug, a killed worker comes back and goes on, and what was found
// is collected and reproduces.
func TestFleet(t *testing.T) {
	if *fleetDir == "" {
		testenv.Skip(t, "building an instrumented archive takes minutes: make fuzz-fleet")
	}
	t.Setenv(planted.Env, bug)
	h := begin(t)
	first, second := h.worker(t, "first"), h.worker(t, "second")
	h.await(t, "two workers find the planted bug "+bug, func(s stats) bool { return s.workers == 2 && s.crashers > 0 })

	first.kill(t)
	h.worker(t, "first")
	h.await(t, "the first worker is back, as a third: a dead one is counted for five minutes",
		func(s stats) bool { return s.workers == 3 })
	second.kill(t)
	h.next(t) // the second may have told of executions since the last line
	before, line := h.next(t)
	t.Logf("the first worker is alone: %s", line)
	h.await(t, "it goes on", func(s stats) bool { return s.executions > before.executions+goesOn })

	for _, script := range h.collect(t) {
		requireReproduces(t, script)
	}
}

// root is where the commands run: inside the module.
var root = filepath.Join("..", "..")

// A party is a command of the fleet that runs.
type party struct {
	name  string
	cmd   *exec.Cmd
	lines chan string // what it writes
}

// start starts a command, which is interrupted when the test ends.
func start(t *testing.T, name, binary string, args ...string) party {
	t.Helper()
	t.Logf("%s: sealab %s", name, strings.Join(args, " "))
	read, write := io.Pipe()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = root, write, write, child.Attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	require.NoError(t, cmd.Start())
	p := party{name, cmd, make(chan string, 10_000)}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cmd.Wait() // an interrupted one fails, and a killed one was waited for
		write.Close()
	})
	return p
}

// line returns the next line that a party writes.
func (p party) line(t *testing.T) string {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(t, ok, "%s ended", p.name)
		return line
	case <-time.After(patience):
		require.FailNow(t, "nothing happened", "%s wrote nothing for %v", p.name, patience)
	}
	return ""
}

// kill ends a party as kill -9 does.
func (p party) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	require.ErrorContains(t, p.cmd.Wait(), "killed")
	t.Logf("%s: killed with -9", p.name)
}

// A hunt is a fleet at work.
type hunt struct {
	binary      string
	join        []string // what the coordinator says that a worker runs
	coordinator party
}

// begin builds the command and starts a coordinator.
func begin(t *testing.T) hunt {
	t.Helper()
	h := hunt{binary: filepath.Join(t.TempDir(), "sealab")}
	output, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", h.binary, "sealab/cmd/sealab").CombinedOutput()
	require.NoError(t, err, "%s", output)
	h.coordinator = start(t, "coordinator", h.binary,
		"fuzz", "fleet", "coordinator", target, "--tags", "planted", "--dir", *fleetDir, "--listen", "127.0.0.1:17070")
	for h.join == nil {
		line := h.coordinator.line(t)
		t.Log(line)
		if _, command, found := strings.Cut(line, "workers run: sealab "); found {
			h.join = strings.Fields(command)
		}
	}
	return h
}

// worker starts a worker of one process in a folder of its own.
func (h hunt) worker(t *testing.T, name string) party {
	t.Helper()
	dir := filepath.Join(*fleetDir, name)
	return start(t, name+" worker", h.binary, append(slices.Clone(h.join), "--dir", dir, "--tests", "1")...)
}

// stats are what the coordinator says every three seconds.
type stats struct{ workers, crashers, executions int }

var statsLine = regexp.MustCompile(`workers: (\d+), .* crashers: (\d+), .* execs: (\d+) `)

// next returns what the coordinator says next, also as it stands.
func (h hunt) next(t *testing.T) (stats, string) {
	t.Helper()
	for {
		line := h.coordinator.line(t)
		m := statsLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var n [3]int
		for i := range n {
			var err error
			n[i], err = strconv.Atoi(m[i+1])
			require.NoError(t, err, line)
		}
		return stats{workers: n[0], crashers: n[1], executions: n[2]}, line
	}
}

// await waits until the coordinator says what is meant by it.
func (h hunt) await(t *testing.T, what string, it func(stats) bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		s, line := h.next(t)
		if it(s) {
			t.Logf("%s: %s", what, line)
			return
		}
		require.True(t, time.Now().Before(end), "in %v not seen: %s; the last line: %s", patience, what, line)
	}
}

// collect merges what the fleet found into a new campaign, and returns the
// scripts that reproduce its crashers.
func (h hunt) collect(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), h.binary, "fuzz", "fleet", "collect", *fleetDir, "--dir", dir)
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	t.Logf("sealab %s\n%s", strings.Join(cmd.Args[1:], " "), output)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode(), "there are crashers")
	scripts, err := filepath.Glob(filepath.Join(dir, "crashers", target, "*", "reproduce.sh"))
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	return scripts
}

// requireReproduces fails unless a crasher fails with the bug, and holds without.
func requireReproduces(t *testing.T, script string) {
	t.Helper()
	run := func(bug string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sh", script)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), planted.Env+"="+bug)
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	output, err := run(bug)
	require.Error(t, err, "%s: %s", script, output)
	require.Contains(t, output, "FAIL", script)
	output, err = run("none")
	require.NoError(t, err, "%s without the bug: %s", script, output)
	t.Logf("reproduce.sh of %s fails with the bug, and holds without", filepath.Base(filepath.Dir(script)))
}
