// Package sourcetree is for commands that build what they run from the source of
// this module. It does not find the source: they work where they are called.
package sourcetree

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// module is the module that Check looks for.
const module = "sealab"

// Check returns an error unless dir is inside the module, and the go command is
// there to tell. An empty dir is the working folder.
func Check(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("sealab: %w; want the go command, which builds what runs", err)
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", module)
	cmd.Dir = dir
	failed := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("sealab: %w", ctx.Err())
	}
	if failed == nil {
		return nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return fmt.Errorf("sealab: %s is not inside the module %s: run it there, as what runs is built from its source", path, module)
}
