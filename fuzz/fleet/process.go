package fleet

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"sealab/internal/child"
)

// endTime is how long go-fuzz may take to end.
const endTime = 10 * time.Second

// Coordinate runs the coordinator of the fleet in dir until ctx ends, with the
// status page of go-fuzz on page unless that is empty.
func Coordinate(ctx context.Context, dir, address, page string, output io.Writer) error {
	args := []string{"-coordinator=" + address, "-workdir=" + Work(dir)}
	if page != "" {
		args = append(args, "-http="+page)
	}
	return run(ctx, dir, output, args...)
}

// A Worker is one machine of a fleet.
type Worker struct {
	Dir     string // with the engine
	Archive string
	SHA256  string // that the archive must have
	Address string // of the coordinator
	Tests   int    // processes that run inputs
}

// Run runs the worker until ctx ends or the coordinator is gone.
func (w Worker) Run(ctx context.Context, output io.Writer) error {
	if err := CheckArchive(w.Archive, w.SHA256); err != nil {
		return err
	}
	return run(ctx, w.Dir, output, "-worker="+w.Address, "-bin="+w.Archive, "-workdir="+w.Dir, "-procs="+strconv.Itoa(w.Tests))
}

func run(ctx context.Context, dir string, output io.Writer, args ...string) error {
	engine, err := filepath.Abs(filepath.Join(dir, engineFile))
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	cmd := exec.CommandContext(ctx, engine, args...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = child.Attributes()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = endTime
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("sealab: go-fuzz ended before it was told to: %w", err)
	}
	return nil
}
