package proof

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// tag is the build tag that plants the bugs.
const tag = "planted"

// environment chooses the bug of a hunt.
func (h Hunt) environment() string { return "SEALAB_PLANTED=" + h.Bug }

// Native is go test -fuzz as it comes.
type Native struct {
	Package string // with the fuzz functions
	Dir     string // where the binary is built, inside the module
}

// Name implements Engine.
func (Native) Name() string { return "go test" }

func (n Native) binary() string { return filepath.Join(n.Dir, "native.test") }

// Prepare implements Engine.
func (n Native) Prepare(ctx context.Context) error {
	return run(ctx, "go", "test", "-c", "-fuzz=.", "-tags="+tag, "-o", n.binary(), n.Package)
}

// What the engine says.
var (
	executed = regexp.MustCompile(`execs: (\d+)`)
	failing  = regexp.MustCompile(`(?m)^--- FAIL: Fuzz`)
)

// Begin implements Engine.
func (n Native) Begin(_ context.Context, h Hunt) (Chase, error) {
	return func(ctx context.Context, found func()) (int64, error) {
		cmd := command(ctx, n.binary(), "-test.run=^$", "-test.fuzz=^"+h.Target.NativeName()+"$",
			"-test.fuzzcachedir="+filepath.Join(h.Dir, "cache"), fmt.Sprintf("-test.parallel=%d", h.Workers))
		cmd.Dir = h.Dir
		cmd.Env = append(cmd.Environ(), h.environment(), fmt.Sprintf("GODEBUG=fuzzseed=%d", h.Seed))
		out, err := cmd.CombinedOutput()
		switch {
		case failing.Match(out):
			found()
		case ctx.Err() == nil:
			return 0, fmt.Errorf("it ended by itself: %w: %s", err, out)
		}
		return last(executed, out), nil
	}, nil
}

// last returns the number in the last match, 0 where there is none.
func last(pattern *regexp.Regexp, out []byte) int64 {
	all := pattern.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(all[len(all)-1][1]), 10, 64) // the pattern holds digits
	return n
}

func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}
