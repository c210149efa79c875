package campaign_test

import (
	"bufio"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
	"sealab/internal/broken/injected"
	"sealab/internal/command"
	"sealab/internal/testenv"
)

var fleetDir = flag.String("fleet-dir", "", "folder of TestFleet; it keeps an archive that exists")

// The injected bug of TestFleet, and the target that finds it.
const (
	bug        = "short-tag"
	targetName = "text"
)

// moreExecutions exceeds the number of executions that a killed worker may report late.
const moreExecutions = 1000

// stepTime limits each step of TestFleet.
const stepTime = 10 * time.Minute

// TestFleet builds a target and follows FleetCommands. A coordinator and two workers must find
// an injected bug, a killed worker must be able to return, and the findings must reproduce in a
// campaign.
func TestFleet(t *testing.T) {
	if *fleetDir == "" {
		testenv.Skip(t, "building an instrumented archive takes minutes: make fuzz-fleet")
	}
	t.Setenv(injected.Env, bug)
	target, err := targets.Find(targetName)
	require.NoError(t, err)
	seeds, err := target.Seeds()
	require.NoError(t, err)
	require.NoError(t, campaign.Fleet{Package: "sealab/fuzz/targets/gofuzz", Function: target.NativeName(), Seeds: seeds}.Build(t.Context(), *fleetDir))
	work := filepath.Join(*fleetDir, "work")
	coordinator := start(t, "-coordinator=127.0.0.1:17070", "-workdir="+work)
	worker := func() process {
		return start(t, "-worker=127.0.0.1:17070", "-bin="+filepath.Join(*fleetDir, "archive.zip"), "-workdir="+t.TempDir(), "-procs=1")
	}
	first, second := worker(), worker()
	coordinator.await(t, "two workers find "+bug, func(s stats) bool { return s.workers == 2 && s.crashers > 0 })
	first.kill(t)
	worker()
	coordinator.await(t, "a third worker: the killed one counts for five minutes", func(s stats) bool { return s.workers == 3 })
	second.kill(t)
	coordinator.next(t) // may include late executions of the second worker
	before := coordinator.next(t)
	coordinator.await(t, "the third worker continues", func(s stats) bool { return s.executions > before.executions+moreExecutions })

	dir := t.TempDir()
	inputs, failing, err := harness.ReadWorkdir(work)
	require.NoError(t, err)
	require.NotEmpty(t, failing)
	native := campaign.Target{Name: targetName, Native: target.NativeName()}
	c, err := campaign.Open(t.Context(), campaign.Config{Dir: dir, Package: "sealab/fuzz/targets", Cover: "sealab/codecs/...", Targets: []campaign.Target{native}, Now: time.Now})
	require.NoError(t, err)
	n, err := c.Import(t.Context(), native, inputs, failing)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	require.Positive(t, n.Inputs)
	found, err := campaign.ReadCrashers(dir, native)
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, k := range found {
		require.NotEqual(t, "lost", string(k.Kind), k.Text)
		t.Logf("%s: %s", k.Bucket, k.Text)
	}
}

// A process is a running go-fuzz.
type process struct {
	cmd   *exec.Cmd
	lines chan string // lines of its output
}

// start starts go-fuzz, which runs until the test ends.
func start(t *testing.T, args ...string) process {
	t.Helper()
	t.Logf("go-fuzz %v", args)
	read, write := io.Pipe()
	cmd := exec.CommandContext(t.Context(), filepath.Join(*fleetDir, "go-fuzz"), args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = write, write, command.TiedChild()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	require.NoError(t, cmd.Start())
	p := process{cmd, make(chan string, 10_000)}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(read); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(func() {
		cmd.Wait() // fails after an interrupt
		write.Close()
	})
	return p
}

func (p process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	require.ErrorContains(t, p.cmd.Wait(), "killed")
}

// stats are the statistics that a coordinator prints every three seconds.
type stats struct{ workers, crashers, executions int }

var statsLine = regexp.MustCompile(`workers: (\d+), .* crashers: (\d+), .* execs: (\d+) `)

// next returns the next statistics.
func (p process) next(t *testing.T) stats {
	t.Helper()
	for {
		select {
		case line, ok := <-p.lines:
			require.True(t, ok, "the coordinator ended")
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
			return stats{workers: n[0], crashers: n[1], executions: n[2]}
		case <-time.After(stepTime):
			require.FailNow(t, "no output of the coordinator")
		}
	}
}

// await waits for statistics that satisfy has.
func (p process) await(t *testing.T, name string, has func(stats) bool) {
	t.Helper()
	for end := time.Now().Add(stepTime); ; {
		s := p.next(t)
		if has(s) {
			t.Logf("%s: %+v", name, s)
			return
		}
		require.True(t, time.Now().Before(end), "%s: %+v", name, s)
	}
}

// TestPrepare checks that a target without seeds is refused and an existing archive is kept.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	require.ErrorContains(t, campaign.Fleet{Function: "FuzzText"}.Build(t.Context(), dir), "FuzzText has no seeds")
	_, err := campaign.FleetCommands(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "archive.zip"), []byte("foo"), 0o644))
	require.NoError(t, campaign.Fleet{Function: "FuzzText", Seeds: [][]byte{[]byte("seed")}}.Build(t.Context(), dir))
	commands, err := campaign.FleetCommands(dir)
	require.NoError(t, err)
	require.Contains(t, commands, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae  archive.zip")
	require.Contains(t, commands, "-coordinator 127.0.0.1:7070 ")
}
