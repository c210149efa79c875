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

// preserved returns the packages that go-fuzz-build must not instrument, separated by commas.
// These are packages with assembly, because instrumentation would move the compiler directives
// of their stubs, and one package of the standard library with such directives.
func preserved(ctx context.Context, pkg string) (string, error) {
	out, err := command.Go(ctx, "list", "-deps", "-f", "{{if and (not .Standard) .SFiles}}{{.ImportPath}}{{end}}", pkg)
	return strings.Join(append(strings.Fields(string(out)), "crypto/internal/fips140/bigmod"), ","), err
}

// A Fleet is a fuzz target for github.com/dvyukov/go-fuzz, on one or more machines, or for
// libFuzzer. The user starts the engine; FleetCommands returns the commands for go-fuzz. Build
// writes to its folder:
//
//	archive.zip   the instrumented program, which every worker must have
//	go-fuzz       the engine
//	work/         corpus and crashers of go-fuzz
//	target.a      for libFuzzer, instead of archive.zip and go-fuzz
//
// The coordinator and workers of go-fuzz use net/rpc over TCP without encryption or
// authentication. Any client of the port can read and write the corpus and choose the inputs of
// every worker. The coordinator must therefore listen on the loopback interface. Workers on
// other machines connect through a tunnel with authentication, such as ssh from the machine of
// the worker:
//
//	ssh -N -L 7070:127.0.0.1:7070 coordinator.example
//
// or through a private network in which every machine is trusted. The flag -http of go-fuzz
// serves a status page and /debug/pprof to every Host; a web page can reach it by DNS
// rebinding.
type Fleet struct {
	Package  string // package of the function, which is a func([]byte) int
	Function string // "FuzzText"
	Tags     string // build tags, separated by spaces
	Seeds    [][]byte
}

// The files in the folder of Build.
const (
	archiveFile = "archive.zip"
	libraryFile = "target.a"
	engineFile  = "go-fuzz"
	workFolder  = "work"
)

// Build builds the target and go-fuzz in dir and writes the seeds. It keeps an existing
// archive, because workers may have copies of it and builds differ between machines.
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

// BuildLibrary builds the target for libFuzzer as dir/target.a, to be linked with clang
// -fsanitize=fuzzer. It also writes the seeds.
func (f Fleet) BuildLibrary(ctx context.Context, dir string) error {
	if err := f.prepare(ctx, dir); err != nil {
		return err
	}
	return f.build(ctx, filepath.Join(dir, libraryFile), "-libfuzzer")
}

// prepare checks the go command and writes the seeds.
func (f Fleet) prepare(ctx context.Context, dir string) error {
	if len(f.Seeds) == 0 {
		return fmt.Errorf("%s has no seeds; want at least one", f.Function)
	}
	if err := command.CheckGo(ctx, ""); err != nil {
		return err
	}
	return harness.Raw.Write(filepath.Join(dir, workFolder, "corpus"), f.Seeds)
}

// build runs go-fuzz-build with output file out.
func (f Fleet) build(ctx context.Context, out string, flags ...string) error {
	preserve, err := preserved(ctx, f.Package)
	if err != nil {
		return err
	}
	args := append([]string{"tool", "go-fuzz-build", "-preserve", preserve, "-tags", f.Tags, "-func", f.Function, "-o", out}, flags...)
	_, err = command.Go(ctx, append(args, f.Package)...)
	return err
}

// FleetCommands returns instructions with the commands that run the target in dir on one or
// more machines.
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
