package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sealab/fuzz/engine"
	"sealab/internal/sourcetree"
)

// A source is the package with the fuzz functions, as it lies on disk.
type source struct {
	Dir        string
	ImportPath string
	Name       string
}

func locate(ctx context.Context, pkg, tags string) (source, error) {
	var s source
	if err := sourcetree.Check(ctx, ""); err != nil {
		return s, err
	}
	out, err := goCommand(ctx, "list", "-json=Dir,ImportPath,Name", "-tags="+tags, pkg)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("sealab: go list %s: %w", pkg, err)
	}
	return s, nil
}

// The binaries: with the fuzz engine's counters, and with those of the
// statements. One binary cannot have both.
const (
	fuzzBinary   = "fuzz.test"
	replayBinary = "replay"
)

// Build builds the binary that a campaign with this config fuzzes with, and puts
// it at path: see Config.Built.
func Build(ctx context.Context, config Config, path string) error {
	return buildFuzz(ctx, subject{Package: config.Package, Cover: config.Cover, Tags: config.Tags}, path, config.log())
}

// takeFuzz links a binary that was built before into the folder.
func (f folder) takeFuzz(built string) error {
	path := f.binary(fuzzBinary)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sealab: %w", err)
	}
	if err := os.Link(built, path); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}

// buildFuzz builds the binary that fuzzes, with the engine of package engine
// where this Go has one that it knows. The flag -fuzz would give counters to the
// standard library as well, which the engine reads after every input: they cost
// more than the token does. So only what is under test has them, and the package
// of the fuzz functions, which reads inputs as programs.
func buildFuzz(ctx context.Context, s subject, path string, log func(string)) error {
	args := []string{"test", "-c", "-tags=" + s.Tags}
	for pattern := range strings.SplitSeq(s.Cover+","+s.Package, ",") {
		args = append(args, "-gcflags="+pattern+"=-d=libfuzzer")
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".engine-")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	defer os.RemoveAll(dir)
	list, unknown := overlay(ctx, dir)
	if unknown == nil {
		unknown = build(ctx, path, s.Package, append(args, "-overlay="+list)...)
	}
	if unknown == nil || ctx.Err() != nil {
		return unknown
	}
	if err := build(ctx, path, s.Package, args...); err != nil {
		return err
	}
	log(fmt.Sprintf("fuzzing with the engine of this Go as it is, which is slower: %v", unknown))
	return nil
}

// overlay writes the changes to the engine to dir, and returns what the flag
// -overlay takes.
func overlay(ctx context.Context, dir string) (string, error) {
	goroot, err := goCommand(ctx, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	return engine.Overlay(strings.TrimSpace(string(goroot)), dir)
}

// buildReplay builds the binary that knows which statements an input runs. The
// main package must be among those with counters, or none are written.
func (f folder) buildReplay(ctx context.Context, s subject) error {
	return build(ctx, f.binary(replayBinary), s.Replay, "build", "-cover", "-covermode=atomic", "-coverpkg="+s.Cover+","+s.Replay, "-tags="+s.Tags)
}

func build(ctx context.Context, path, pkg string, args ...string) error {
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if _, err := goCommand(ctx, append(args, "-o", beside, pkg)...); err != nil {
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		return fmt.Errorf("sealab: building %s: %w; want a package with tests", pkg, err)
	}
	return nil
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("sealab: interrupted while go %s ran: nothing was lost", args[0])
	}
	if err != nil {
		return nil, fmt.Errorf("sealab: go %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
