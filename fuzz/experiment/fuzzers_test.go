package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/campaign/report"
	"sealab/fuzz/targets"
	"sealab/internal/broken/injected"
	"sealab/internal/command"
)

// A fuzzer runs trials.
type fuzzer interface {
	name() string
	// prepare builds the programs for all trials.
	prepare(ctx context.Context) error
	// run fuzzes until it finds a failure or ctx ends. It calls found at the failure, and may
	// clean up afterwards. The end of ctx is not an error.
	run(ctx context.Context, s setup, found func()) (executions int64, err error)
}

// A setup describes one trial.
type setup struct {
	bug     string
	target  targets.Target
	trial   int
	dir     string // an empty folder
	source  string // the folder of the targets
	workers int
}

// environment returns the variables that inject the bug and tell the target its source folder.
// A trial runs in a folder outside the module.
func (s setup) environment() []string {
	return []string{injected.Env + "=" + s.bug, harness.EnvSource + "=" + s.source}
}

const (
	targetsPackage = "sealab/fuzz/targets"
	goFuzzPackage  = targetsPackage + "/gofuzz"
)

// supervised is the fuzzer of package campaign.
type supervised struct{ dir string }

func (supervised) name() string { return "campaign" }

func (f supervised) config() campaign.Config {
	return campaign.Config{Package: targetsPackage, Replay: targetsPackage + "/replay", Cover: "sealab/codecs/...,sealab/internal/broken/injected", Now: time.Now}
}

func (f supervised) program() string { return filepath.Join(f.dir, "campaign.test") }

func (f supervised) prepare(ctx context.Context) error {
	return campaign.Build(ctx, f.config(), f.program())
}

func (f supervised) run(ctx context.Context, s setup, found func()) (int64, error) {
	config := f.config()
	config.Dir, config.Built, config.Workers = s.dir, f.program(), s.workers
	config.Slice = 10 * time.Second // short, because a failure is noticed when it is filed
	config.Targets = []campaign.Target{{Name: s.target.Name, Native: s.target.NativeName()}}
	config.Env = s.environment()
	c, err := campaign.Open(ctx, config)
	if err != nil {
		return 0, err
	}
	_, err = until(ctx, filepath.Join(s.dir, "crashers", s.target.Name), found, c.Run)
	if err := errors.Join(err, c.Close()); err != nil {
		return 0, err
	}
	status, err := report.ReadStatus(s.dir)
	return status.Executions(), err // as of the last record
}

// native is the fuzzer go test -fuzz.
type native struct{ dir string }

func (native) name() string { return "go test" }

func (f native) program() string { return filepath.Join(f.dir, "native.test") }

func (f native) prepare(ctx context.Context) error {
	_, err := command.Go(ctx, "test", "-c", "-fuzz=.", "-o", f.program(), targetsPackage)
	return err
}

var (
	nativeExecutions = regexp.MustCompile(`execs: (\d+)`)
	nativeFailure    = regexp.MustCompile(`(?m)^--- FAIL: Fuzz`)
)

func (f native) run(ctx context.Context, s setup, found func()) (int64, error) {
	cmd := interruptible(ctx, f.program(), "-test.run=^$", "-test.fuzz=^"+s.target.NativeName()+"$",
		"-test.fuzzcachedir="+filepath.Join(s.dir, "cache"), fmt.Sprintf("-test.parallel=%d", s.workers))
	cmd.Dir = s.dir
	cmd.Env = append(append(cmd.Environ(), s.environment()...), fmt.Sprintf("GODEBUG=fuzzseed=%d", s.trial))
	out, err := cmd.CombinedOutput()
	switch {
	case nativeFailure.Match(out):
		found()
	case ctx.Err() == nil:
		return 0, fmt.Errorf("ended early: %w: %s", err, out)
	}
	return lastNumber(nativeExecutions, out), nil
}

// goFuzz is the fuzzer github.com/dvyukov/go-fuzz.
type goFuzz struct{ dir string }

func (goFuzz) name() string { return "go-fuzz" }

func (f goFuzz) folder() string { return filepath.Join(f.dir, "go-fuzz") }

// prepare builds one archive with all targets, which takes minutes. It builds again only if the
// source has changed.
func (f goFuzz) prepare(ctx context.Context) error {
	source, err := command.Go(ctx, "list", "-export", "-f", "{{.BuildID}}", goFuzzPackage)
	if err != nil {
		return err
	}
	built := f.folder() + ".source"
	if of, err := os.ReadFile(built); err == nil && bytes.Equal(of, source) {
		return nil
	}
	if err := os.RemoveAll(f.folder()); err != nil {
		return err
	}
	if err := (campaign.Fleet{Package: goFuzzPackage, Seeds: [][]byte{nil}}).Build(ctx, f.folder()); err != nil {
		return err
	}
	return os.WriteFile(built, source, 0o644)
}

var goFuzzExecutions = regexp.MustCompile(`execs: (\d+) \(`)

func (f goFuzz) run(ctx context.Context, s setup, found func()) (int64, error) {
	seeds, err := s.target.Seeds()
	if err != nil {
		return 0, err
	}
	if err := harness.Raw.Write(filepath.Join(s.dir, "corpus"), seeds); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	early, err := until(ctx, filepath.Join(s.dir, "crashers"), found, func(ctx context.Context) error {
		cmd := interruptible(ctx, filepath.Join(f.folder(), "go-fuzz"), "-bin", filepath.Join(f.folder(), "archive.zip"), "-func", s.target.NativeName(),
			"-workdir", s.dir, "-procs", fmt.Sprint(s.workers), "-minimize", "1s")
		cmd.Env = append(cmd.Environ(), s.environment()...)
		cmd.Stdout, cmd.Stderr = &out, &out
		return cmd.Run()
	})
	if early {
		return 0, fmt.Errorf("ended early: %w: %s", err, out.Bytes())
	}
	return lastNumber(goFuzzExecutions, out.Bytes()), nil
}

// interruptible returns a command that is interrupted when ctx ends, so that it can end its
// workers.
func interruptible(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// lastNumber returns the number in the last match, or 0.
func lastNumber(pattern *regexp.Regexp, out []byte) int64 {
	all := pattern.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(all[len(all)-1][1]), 10, 64) // the pattern matches only digits
	return n
}

// until runs fuzz until it ends, ctx ends, or a crasher appears in a folder. If one appears,
// until calls found and ends fuzz. early reports whether fuzz ended by itself.
func until(ctx context.Context, folder string, found func(), fuzz func(context.Context) error) (early bool, err error) {
	fuzzing, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if appears(fuzzing, folder) {
			found()
			stop()
		}
	}()
	err = fuzz(fuzzing)
	early = fuzzing.Err() == nil
	stop()
	<-watched
	return early, err
}

// appears waits until a folder has a crasher, or ctx ends. It reports whether there is one.
func appears(ctx context.Context, folder string) bool {
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	for {
		entries, _ := os.ReadDir(folder) // the folder is created later
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				return true
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-looks.C:
		}
	}
}
