package proof

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// grace is how long an engine has to end its workers.
const grace = 10 * time.Second

// command returns a command that is interrupted when ctx ends, so that it can
// end its own workers.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	return cmd
}
