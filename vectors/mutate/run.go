package mutate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The lines that the program writes: Ready when the vectors agree with the
// designs as they are, and then one for each check, which is what noticed that
// it is gone. Unreached says that no vector comes to it.
const (
	Ready     = "ready"
	Unreached = "unreached"
)

// A Result is what became of one check.
type Result struct {
	Check
	// Noticed is what went wrong without it: a test, or how the program ended.
	// "" says that no vector noticed.
	Noticed string
}

// Guarded reports whether a vector notices that the check is gone.
func (r *Result) Guarded() bool { return r.Noticed != "" && r.Noticed != Unreached }

// Run judges every check with the vectors in dir, an absolute path. A check
// without which a design hangs or dies past recovery is noticed: patience is how
// long one may take.
func (b *Build) Run(dir string, patience time.Duration) ([]Result, error) {
	var results []Result
	for len(results) < len(b.Checks) {
		r := b.start(dir, len(results), patience)
		for _, noticed := range r.noticed {
			results = append(results, Result{b.Checks[len(results)], noticed})
		}
		if !r.ready {
			return nil, fmt.Errorf("sealab: the vectors cannot be judged: %w: %s", r.err, r.stderr.String())
		}
		if len(results) < len(b.Checks) {
			results = append(results, Result{b.Checks[len(results)], "the end of the program: " + r.err.Error()})
		}
	}
	return results, nil
}

// pass is one run of the program.
type pass struct {
	ready   bool // the vectors agree with the designs as they are
	noticed []string
	stderr  strings.Builder
	err     error // how it ended
}

// start runs the program from check first on until it ends.
func (b *Build) start(dir string, first int, patience time.Duration) *pass {
	p := &pass{}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, b.Program, dir, strconv.Itoa(first), strconv.Itoa(len(b.Checks)))
	cmd.Stderr = &p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.err = err
		return p
	}
	if p.err = cmd.Start(); p.err != nil {
		return p
	}
	watch := time.AfterFunc(patience, func() { cancel(errHung) })
	defer watch.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); watch.Reset(patience) {
		if !p.ready {
			p.ready = lines.Text() == Ready
			continue
		}
		p.noticed = append(p.noticed, lines.Text())
	}
	if p.err = cmd.Wait(); p.err == nil {
		p.err = errEnded
	}
	if cause := context.Cause(ctx); cause != nil {
		p.err = cause
	}
	return p
}

var (
	errHung  = errors.New("it hangs")
	errEnded = errors.New("it ended early")
)
