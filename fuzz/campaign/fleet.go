package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/command"
)

// preserved returns the packages that go-fuzz-build must not instrument, separated
// by commas: those with assembly, because it would move the compiler directives of
// their stubs, and one of the standard library with such directives.
func preserved(ctx context.Context, pkg string) (string, error) {
	out, err := command.Go(ctx, "list", "-deps", "-f", "{{if and (not .Standard) .SFiles}}{{.ImportPath}}{{end}}", pkg)
	return strings.Join(append(strings.Fields(string(out)), "crypto/internal/fips140/bigmod"), ","), err
}

// A Fleet is a fuzz target for github.com/dvyukov/go-fuzz, on one machine or on many,
// or for libFuzzer. The engines run themselves: FleetCommands returns the commands to
// start go-fuzz. The folder of Build:
//
//	archive.zip   the instrumented program, which every worker must have
//	go-fuzz       the engine
//	work/         corpus and crashers of go-fuzz
//	target.a      for libFuzzer, instead of archive.zip and go-fuzz
//
// Coordinator and workers of go-fuzz speak net/rpc over TCP without encryption
// or authentication. Every client of the port reads and writes the corpus and
// chooses the inputs of every worker. The coordinator must therefore listen on
// the loopback interface. Workers on other machines connect through a tunnel with
// authentication, such as ssh from the machine of the worker:
//
//	ssh -N -L 7070:127.0.0.1:7070 coordinator.example
//
// or through a private network in which every machine is trusted. The flag -http
// of go-fuzz serves a status page and /debug/pprof to every Host; a web page can
// reach it by DNS rebinding.
type Fleet struct {
	Package  string // with the function, as func([]byte) int
	Function string // "FuzzText"
	Tags     string // build tags, separated by spaces
	Seeds    [][]byte
}

// The files of a folder of Build.
const (
	archiveFile = "archive.zip"
	libraryFile = "target.a"
	engineFile  = "go-fuzz"
	workFolder  = "work"
)

// Build builds the target and go-fuzz in dir and writes the seeds. It keeps an archive
// that exists, because workers may have copies of it: builds differ from machine
// to machine.
func (f Fleet) Build(ctx context.Context, dir string) error {
	if err := f.prepare(ctx, dir); err != nil {
		return err
	}
	archive := filepath.Join(dir, archiveFile)
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := command.Go(ctx, "build", "-o", filepath.Join(dir, engineFile), "github.com/dvyukov/go-fuzz/go-fuzz"); err != nil {
		return err
	}
	return f.build(ctx, archive)
}

// BuildLibrary builds the target for libFuzzer as dir/target.a, for clang
// -fsanitize=fuzzer, and writes the seeds.
func (f Fleet) BuildLibrary(ctx context.Context, dir string) error {
	if err := f.prepare(ctx, dir); err != nil {
		return err
	}
	return f.build(ctx, filepath.Join(dir, libraryFile), "-libfuzzer")
}

// prepare writes the seeds.
func (f Fleet) prepare(ctx context.Context, dir string) error {
	if len(f.Seeds) == 0 {
		return fmt.Errorf("%s has no seeds; want at least one", f.Function)
	}
	if err := command.CheckGo(ctx, ""); err != nil {
		return err
	}
	return harness.Raw.Write(filepath.Join(dir, workFolder, "corpus"), f.Seeds)
}

// build runs go-fuzz-build.
func (f Fleet) build(ctx context.Context, out string, flags ...string) error {
	preserve, err := preserved(ctx, f.Package)
	if err != nil {
		return err
	}
	args := append([]string{"tool", "go-fuzz-build", "-preserve", preserve, "-tags", f.Tags, "-func", f.Function, "-o", out}, flags...)
	_, err = command.Go(ctx, append(args, f.Package)...)
	return err
}

// FleetCommands returns the commands that run the target in dir on one machine or on
// many, for a person.
func FleetCommands(dir string) (string, error) {
	archive, err := os.ReadFile(filepath.Join(dir, archiveFile))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(archive)
	return strings.NewReplacer("DIR", dir, "SUM", hex.EncodeToString(sum[:])).Replace(`One machine:
  DIR/go-fuzz -bin DIR/archive.zip -workdir DIR/work

Many machines. The coordinator:
  DIR/go-fuzz -coordinator 127.0.0.1:7070 -workdir DIR/work
Each worker, with copies of go-fuzz and archive.zip:
  ssh -N -L 7070:127.0.0.1:7070 coordinator.example
  echo "SUM  archive.zip" | sha256sum -c && ./go-fuzz -worker 127.0.0.1:7070 -bin archive.zip -workdir .

Add the findings to a campaign:
  sealab fuzz import TARGET DIR/work --dir fuzz-campaign
`), nil
}
