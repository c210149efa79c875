// Package fleet builds a fuzz target for github.com/dvyukov/go-fuzz, on one
// machine or on many, and for libFuzzer. The engines run themselves: Commands
// returns the commands to start go-fuzz. The folder of Build:
//
//	archive.zip   the instrumented program, which every worker must have
//	go-fuzz       the engine
//	work/         corpus and crashers of go-fuzz
//	target.a      for libFuzzer, instead of archive.zip and go-fuzz
//
// # The connection
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
package fleet

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
	"sealab/internal/gobuild"
)

// preserved returns the packages that go-fuzz-build must not instrument, separated
// by commas: those with assembly, because it would move the compiler directives of
// their stubs, and one of the standard library with such directives.
func preserved(ctx context.Context, pkg string) (string, error) {
	out, err := gobuild.Run(ctx, "list", "-deps", "-f", "{{if and (not .Standard) .SFiles}}{{.ImportPath}}{{end}}", pkg)
	return strings.Join(append(strings.Fields(string(out)), "crypto/internal/fips140/bigmod"), ","), err
}

// A Target is a target for Build.
type Target struct {
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

// Build builds t and go-fuzz in dir and writes the seeds. It keeps an archive
// that exists, because workers may have copies of it: builds differ from machine
// to machine.
func Build(ctx context.Context, dir string, t Target) error {
	if err := t.prepare(ctx, dir); err != nil {
		return err
	}
	archive := filepath.Join(dir, archiveFile)
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := gobuild.Run(ctx, "build", "-o", filepath.Join(dir, engineFile), "github.com/dvyukov/go-fuzz/go-fuzz"); err != nil {
		return err
	}
	return t.build(ctx, archive)
}

// BuildLibrary builds t for libFuzzer as dir/target.a, for clang
// -fsanitize=fuzzer, and writes the seeds.
func BuildLibrary(ctx context.Context, dir string, t Target) error {
	if err := t.prepare(ctx, dir); err != nil {
		return err
	}
	return t.build(ctx, filepath.Join(dir, libraryFile), "-libfuzzer")
}

// prepare writes the seeds of t.
func (t Target) prepare(ctx context.Context, dir string) error {
	if len(t.Seeds) == 0 {
		return fmt.Errorf("%s has no seeds; want at least one", t.Function)
	}
	if err := gobuild.Check(ctx, ""); err != nil {
		return err
	}
	return harness.Raw.Write(filepath.Join(dir, workFolder, "corpus"), t.Seeds)
}

// build runs go-fuzz-build.
func (t Target) build(ctx context.Context, out string, flags ...string) error {
	preserve, err := preserved(ctx, t.Package)
	if err != nil {
		return err
	}
	args := append([]string{"tool", "go-fuzz-build", "-preserve", preserve, "-tags", t.Tags, "-func", t.Function, "-o", out}, flags...)
	_, err = gobuild.Run(ctx, append(args, t.Package)...)
	return err
}

// Commands returns the commands that run the target in dir on one machine or on
// many, for a person.
func Commands(dir string) (string, error) {
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
