package proof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"sealab/fuzz/campaign/corpus"
	"sealab/internal/atomicfile"
)

// GoFuzz is github.com/dvyukov/go-fuzz.
type GoFuzz struct {
	Package  string // with the functions
	Dir      string // where the binary is built
	Preserve string // packages that are not instrumented
}

// Name implements Engine.
func (GoFuzz) Name() string { return "go-fuzz" }

func (g GoFuzz) binary() string { return filepath.Join(g.Dir, "go-fuzz.zip") }

func (g GoFuzz) tool() string { return filepath.Join(g.Dir, "go-fuzz") }

// Prepare implements Engine. One archive has every target; it is built again
// only when the source is another, as that takes minutes.
func (g GoFuzz) Prepare(ctx context.Context) error {
	if err := run(ctx, "go", "build", "-o", g.tool(), "github.com/dvyukov/go-fuzz/go-fuzz"); err != nil {
		return err
	}
	source, err := exec.CommandContext(ctx, "go", "list", "-export", "-tags", tag, "-f", "{{.BuildID}}", g.Package).Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", g.Package, err)
	}
	built := g.binary() + ".source"
	if of, err := os.ReadFile(built); err == nil && bytes.Equal(of, source) {
		return nil
	}
	if err := run(ctx, "go", "tool", "go-fuzz-build", "-tags", tag, "-preserve", g.Preserve, "-o", g.binary(), g.Package); err != nil {
		return err
	}
	return atomicfile.Write(built, source)
}

// executedGoFuzz is in its line of statistics.
var executedGoFuzz = regexp.MustCompile(`execs: (\d+) \(`)

// Begin implements Engine.
func (g GoFuzz) Begin(_ context.Context, h Hunt) (Chase, error) {
	seeds, err := h.Target.Seeds()
	if err != nil {
		return nil, err
	}
	if err := corpus.Raw.Write(filepath.Join(h.Dir, "corpus"), seeds); err != nil {
		return nil, err
	}
	return func(ctx context.Context, found func()) (int64, error) {
		var out bytes.Buffer
		ended, err := until(ctx, filepath.Join(h.Dir, "crashers", "*"), found, func(ctx context.Context) error {
			cmd := command(ctx, g.tool(), "-bin", g.binary(), "-func", h.Target.NativeName(), "-workdir", h.Dir,
				"-procs", fmt.Sprint(h.Workers), "-minimize", "1s")
			cmd.Env = append(cmd.Environ(), h.environment())
			cmd.Stdout, cmd.Stderr = &out, &out
			return cmd.Run()
		})
		if ended {
			return 0, fmt.Errorf("it ended by itself: %w: %s", err, out.Bytes())
		}
		return last(executedGoFuzz, out.Bytes()), nil
	}, nil
}
