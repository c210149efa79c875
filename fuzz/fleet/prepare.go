package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sealab/fuzz/campaign/corpus"
	"sealab/fuzz/gofuzz/preserve"
	"sealab/internal/atomicfile"
	"sealab/internal/sourcetree"
)

// Prepare builds what a coordinator needs in the folder dir, unless the folder
// has it: a fleet that comes back goes on with the archive that its workers
// have. f says what is fuzzed; its SHA256 is filled in.
func Prepare(ctx context.Context, dir string, f Fleet, seeds [][]byte) (Fleet, error) {
	before, err := Read(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return f, err
	case before.Function != f.Function || before.Package != f.Package || before.Tags != f.Tags:
		return before, fmt.Errorf("sealab: the fleet in %s fuzzes %s with tags %q; want %s with tags %q, or another folder",
			dir, before.Function, before.Tags, f.Function, f.Tags)
	default:
		return before, CheckArchive(Archive(dir), before.SHA256)
	}
	if len(seeds) == 0 {
		return f, fmt.Errorf("sealab: %s has no seeds; want at least one", f.Target)
	}
	if err := writeSeeds(filepath.Join(Work(dir), "corpus"), seeds); err != nil {
		return f, err
	}
	if err := build(ctx, dir, f); err != nil {
		return f, err
	}
	if f.SHA256, err = digest(Archive(dir)); err != nil {
		return f, err
	}
	return f, f.write(dir) // last: it says that the rest is there
}

func writeSeeds(dir string, seeds [][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, seed := range seeds {
		if err := atomicfile.Write(filepath.Join(dir, corpus.Name(seed)), seed); err != nil {
			return err
		}
	}
	return nil
}

// build builds the archive and the engine.
func build(ctx context.Context, dir string, f Fleet) error {
	err := goCommand(ctx, "tool", "go-fuzz-build", "-preserve", preserve.Packages, "-tags", f.Tags, "-func", f.Function,
		"-o", Archive(dir), f.Package)
	if err != nil {
		return err
	}
	return Engine(ctx, dir)
}

// Engine builds go-fuzz in the folder dir, which it makes.
func Engine(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return goCommand(ctx, "build", "-o", filepath.Join(dir, engineFile), "github.com/dvyukov/go-fuzz/go-fuzz")
}

func goCommand(ctx context.Context, args ...string) error {
	if err := sourcetree.Check(ctx, ""); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("sealab: go %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
