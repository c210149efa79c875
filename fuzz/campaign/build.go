package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sealab/fuzz/engine"
	"sealab/internal/command"
)

// A fuzzPackage is the package with the fuzz functions, as located on disk.
type fuzzPackage struct {
	Dir        string
	ImportPath string
	Name       string
}

func locatePackage(ctx context.Context, pkg, tags string) (fuzzPackage, error) {
	var s fuzzPackage
	if err := command.CheckGo(ctx, ""); err != nil {
		return s, err
	}
	out, err := command.Go(ctx, "list", "-json=Dir,ImportPath,Name", "-tags="+tags, "--", pkg)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("go list %s: %w", pkg, err)
	}
	return s, nil
}

// The programs of a campaign. One has the counters of the fuzz engine, the other those of go
// build -cover. A program cannot have both.
const (
	fuzzProgram   = "fuzz.test"
	replayProgram = "replay"
)

// buildFuzz places the fuzzing program in the campaign's folder.
func (c *Campaign) buildFuzz(ctx context.Context) error {
	path := c.folder.program(fuzzProgram)
	if c.config.Built == "" {
		c.config.log("building " + c.source.ImportPath)
		return Build(ctx, c.config, path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Link(c.config.Built, path)
}

// Build builds the fuzzing program to path, for Config.Built. It uses the faster engine of
// package engine if that supports this version of Go. Only two kinds of packages have counters:
// those under test, and that of the fuzz functions, which reads inputs as programs.
func Build(ctx context.Context, c Config, path string) error {
	args := append([]string{"test", "-c", "-tags=" + c.Tags}, engine.BuildFlags(append(splitPatterns(c.Cover), c.Package))...)
	dir, err := os.MkdirTemp(filepath.Dir(path), ".engine-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	goroot, err := command.Go(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	list, unknown := engine.Overlay(strings.TrimSpace(string(goroot)), dir)
	if unknown == nil {
		unknown = buildBinary(ctx, path, c.Package, append(args, "-overlay="+list)...)
	}
	if unknown == nil || ctx.Err() != nil {
		return unknown
	}
	if err := buildBinary(ctx, path, c.Package, args...); err != nil {
		return err
	}
	c.log(fmt.Sprintf("fuzzing with the slower engine of this version of Go: %v", unknown))
	return nil
}

// buildReplay builds the program that runs inputs under coverage. Its main package needs
// counters as well, because otherwise the program does not write any.
func (c *Campaign) buildReplay(ctx context.Context) error {
	s := c.config
	return buildBinary(ctx, c.folder.program(replayProgram), s.Replay, "build", "-cover", "-covermode=atomic", "-coverpkg="+s.Cover+","+s.Replay, "-tags="+s.Tags)
}

func buildBinary(ctx context.Context, path, pkg string, args ...string) error {
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	if _, err := command.Go(ctx, append(args, "-o", beside, pkg)...); err != nil {
		return err
	}
	if err := os.Rename(beside, path); err != nil {
		return fmt.Errorf("building %s: %w; want a package with tests", pkg, err)
	}
	return nil
}
