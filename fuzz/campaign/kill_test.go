//go:build linux

package campaign_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/campaign/report"
	"sealab/fuzz/targets"
	"sealab/internal/broken/injected"
)

var (
	kills    = flag.Int("kills", 2, "how often the supervisor of TestKill is killed")
	killSeed = flag.Uint64("kill-seed", 1, "seed of the moments at which it is killed")
	allBugs  = flag.Bool("kill-injected", false, "kill a campaign on all targets with all injected bugs, instead of one on the fixture")
)

// supervise is an environment variable. If it names a folder, this test binary supervises the
// campaign there.
const supervise = "SEALAB_TEST_SUPERVISE"

func TestMain(m *testing.M) {
	flag.Parse()
	if dir := os.Getenv(supervise); dir != "" {
		if err := superviseUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

func superviseUntilKilled(dir string) error {
	c, err := campaign.Open(context.Background(), killConfig(dir))
	if err != nil {
		return err
	}
	fmt.Println(opened)
	return errors.Join(c.Run(context.Background()), c.Close())
}

// killConfig returns the campaign to kill: on the fixture, or on the real targets with injected
// bugs.
func killConfig(dir string) campaign.Config {
	c := campaign.Config{Dir: dir, Package: fixture, Replay: fixture + "/replay", Cover: fixture,
		Targets: []campaign.Target{parse, sound}, Workers: 2, Slice: time.Second, Now: time.Now,
		Env: []string{"SEALAB_FUZZ_HANG=2s", "SEALAB_FUZZ_MEMORY=1024"},
		Log: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	if *allBugs {
		c.Package, c.Replay, c.Cover, c.Slice, c.Targets = "sealab/fuzz/targets", "sealab/fuzz/targets/replay", "sealab/codecs/...,sealab/internal/broken/injected", 5*time.Second, nil
		c.Env = append(c.Env, injected.Env+"="+injected.All)
		for _, t := range targets.All() {
			c.Targets = append(c.Targets, campaign.Target{Name: t.Name, Native: t.NativeName()})
		}
	}
	return c
}

// opened is the line that a supervisor prints when it has built the programs and resumed.
const opened = "opened"

// longestLife is the longest time from the start of a supervisor, or from the start of fuzzing,
// to the kill. It spans several slices.
func longestLife() time.Duration {
	if *allBugs {
		return 15 * time.Second
	}
	return 3 * time.Second
}

// TestKill kills a supervisor and its children at random times, alternately while it builds and
// resumes and while it fuzzes. Every file that was complete at a kill must exist at the end,
// and every crasher must reproduce.
func TestKill(t *testing.T) {
	skipShort(t)
	dir := t.TempDir()
	t.Logf("%d kills, seed %d", *kills, *killSeed)
	random := rand.New(rand.NewPCG(*killSeed, 0))
	if !*allBugs {
		addInputs(t, dir, parse, "Every", "Panic")
	}
	kept := onDisk(t, dir)
	for i := range *kills {
		m := moment{fuzzing: i%2 == 1, after: time.Duration(random.Int64N(int64(longestLife())))}
		output := killAt(t, dir, m)
		now := onDisk(t, dir)
		requireSuperset(t, kept, now, "after kill %d, %v: %s", i+1, m, output)
		kept = now
		t.Logf("kill %d of %d, %v: %s", i+1, *kills, m, count(kept))
	}
	c, err := campaign.Open(t.Context(), killConfig(dir))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	requireSuperset(t, kept, onDisk(t, dir), "after the last start")
	status, err := report.ReadStatus(dir)
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	var again int
	for _, ts := range status.Targets {
		for _, k := range ts.Crashers {
			if reproduces(t, k) {
				again++
			}
		}
	}
	t.Logf("nothing lost in %d kills: %s kept; %d of %d crashers reproduce; %s",
		*kills, count(kept), again, crashers(status), status.Summary())
	require.Equal(t, crashers(status), again)
}

// crashers counts the crashers of all targets.
func crashers(s report.Status) (n int) {
	for _, t := range s.Targets {
		n += len(t.Crashers)
	}
	return n
}

// reproduces runs the script of a crasher and reports whether it fails as expected.
func reproduces(t *testing.T, k campaign.FoundCrasher) bool {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "sh", filepath.Join(k.Dir, "reproduce.sh")).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "FAIL") {
		t.Errorf("%s %s does not reproduce (%s): %v: %s: it was %s at %v", k.Target, k.Bucket, k.Unexplained, err, output, k.Text, k.Stack)
		return false
	}
	t.Logf("%s %s reproduces%s", k.Target, k.Bucket, k.Condition())
	return true
}

// A moment is a time at which to kill a supervisor.
type moment struct {
	fuzzing bool // measured from the start of fuzzing, not of the process
	after   time.Duration
}

func (m moment) String() string {
	since := "its start"
	if m.fuzzing {
		since = "it began to fuzz"
	}
	return fmt.Sprintf("%v after %s", m.after.Round(time.Millisecond), since)
}

// count returns the number of files of each kind, as text.
func count(files map[string][]byte) string {
	crashers := 0
	for path := range files {
		if filepath.Base(path) == "input" {
			crashers++
		}
	}
	return fmt.Sprintf("%d inputs and %d crashers", len(files)-crashers, crashers)
}

// killAt runs a supervisor until a moment, and kills it and then all processes below it. It
// returns the output.
func killAt(t *testing.T, dir string, m moment) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], fmt.Sprintf("-kill-injected=%v", *allBugs))
	cmd.Env = append(os.Environ(), supervise+"="+dir)
	var output bytes.Buffer
	cmd.Stderr = &output
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.WaitDelay = 30 * time.Second
	require.NoError(t, cmd.Start())
	if m.fuzzing {
		if line, _ := bufio.NewReader(said).ReadString('\n'); line != opened+"\n" {
			err := cmd.Wait()
			t.Fatalf("the supervisor ended before it fuzzed: %v: %s", err, output.String())
		}
	}
	<-time.After(m.after)
	all := append([]int{cmd.Process.Pid}, below(cmd.Process.Pid)...)
	for _, pid := range all {
		syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
	}
	err = cmd.Wait()
	require.ErrorContains(t, err, "killed", "%s", output.String())
	return output.String()
}

// TestWorkersKilled kills processes that run inputs, as a system short of memory does. The
// campaign must log each kill, continue, and file no input.
func TestWorkersKilled(t *testing.T) {
	skipShort(t)
	dir := t.TempDir()
	var noticed atomic.Int32
	cfg := config(t, dir, sound)
	cfg.Log = func(line string) {
		t.Log(line)
		if strings.Contains(line, "and restarts") || strings.Contains(line, "something killed") {
			noticed.Add(1)
		}
	}
	c, err := campaign.Open(t.Context(), cfg)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	killed := map[int]bool{}
	for range time.Tick(20 * time.Millisecond) {
		require.Empty(t, ran, "it ended by itself")
		pid := worker()
		if pid == 0 || killed[pid] {
			continue
		}
		if noticed.Load() >= 3 {
			break // the campaign continued after the last kill
		}
		killed[pid] = true
		syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
	}
	stop()
	require.NoError(t, <-ran)
	require.NoError(t, c.Close())
	status, err := report.ReadStatus(dir)
	require.NoError(t, err)
	require.Zero(t, crashers(status))
}

// worker returns the ID of a process below this one that runs inputs, or 0.
func worker() int {
	for _, pid := range below(os.Getpid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // the process may have ended
		if bytes.Contains(line, []byte("-test.fuzzworker")) {
			return pid
		}
	}
	return 0
}

// below returns the IDs of all processes below pid.
func below(pid int) []int {
	var all []int
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range children {
		list, _ := os.ReadFile(path) // the process may have ended
		for field := range strings.FieldsSeq(string(list)) {
			child, _ := strconv.Atoi(field)
			all = append(all, child)
			all = append(all, below(child)...)
		}
	}
	return all
}

// onDisk returns the intact files of the corpora, and the inputs of crashers.
func onDisk(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries, err := filepath.Glob(filepath.Join(dir, "corpus", "*", "*"))
	require.NoError(t, err)
	for _, path := range entries {
		if data, err := os.ReadFile(path); err == nil && harness.Name(data) == filepath.Base(path) {
			files[path] = data
		}
	}
	inputs, err := filepath.Glob(filepath.Join(dir, "crashers", "*", "*", "input"))
	require.NoError(t, err)
	for _, path := range inputs {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if !strings.Contains(path, "/.") {
			files[path] = data
		}
	}
	return files
}

func requireSuperset(t *testing.T, earlier, later map[string][]byte, format string, args ...any) {
	t.Helper()
	for path, data := range earlier {
		require.True(t, bytes.Equal(data, later[path]), "%s: %s", path, fmt.Sprintf(format, args...))
	}
}
