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

	"sealab/internal/verdict"
)

// The lines that the program writes. Ready means that the vectors agree with the unchanged designs. Then
// one line per check names the test that noticed its loss. An empty line means that other checks refuse
// the same vectors for the same reason. Idle means that the check refuses no vector.
const (
	Ready = "ready"
	Idle  = "idle"
)

// A Result is the outcome of one check.
type Result struct {
	Check
	// Noticed is the failure without the check: a test, or how the program ended. It is "" if no vector
	// noticed, and Idle if the check refuses no vector.
	Noticed string
}

// Run judges every check with the vectors in dir, an absolute path. If a design
// hangs or crashes without a check, the check is noticed.
func (b *Build) Run(ctx context.Context, dir string) ([]Result, error) {
	var results []Result
	for len(results) < len(b.Checks) {
		r := b.start(ctx, dir, len(results))
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped after %d of %d checks: %w", len(results), len(b.Checks), err)
		}
		for _, noticed := range r.noticed {
			results = append(results, Result{b.Checks[len(results)], noticed})
		}
		if !r.ready {
			return nil, fmt.Errorf("the vectors cannot be judged: %w: %s", r.err, r.stderr.String())
		}
		if len(results) < len(b.Checks) {
			results = append(results, Result{b.Checks[len(results)], "the end of the program: " + r.err.Error()})
		}
	}
	return results, nil
}

// pass is one run of the program.
type pass struct {
	ready   bool // the vectors agree with the unchanged designs
	noticed []string
	stderr  strings.Builder
	err     error // how the run ended
}

// patience is the time limit for one check.
const patience = time.Minute

// start runs the program for the checks from first until it ends.
func (b *Build) start(ctx context.Context, dir string, first int) *pass {
	p := &pass{}
	ctx, cancel := context.WithCancelCause(ctx)
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
	lines := bufio.NewScanner(out)
	for ; lines.Scan(); watch.Reset(patience) {
		if !p.ready {
			p.ready = lines.Text() == Ready
			continue
		}
		p.noticed = append(p.noticed, lines.Text())
	}
	if p.err = errors.Join(lines.Err(), cmd.Wait()); p.err == nil {
		p.err = errEnded
	}
	if cause := context.Cause(ctx); cause != nil {
		p.err = cause
	}
	return p
}

var (
	errHung  = errors.New("timed out")
	errEnded = errors.New("ended before the last check")
)

// A Summary groups results.
type Summary struct {
	Guarded int // checks whose loss a vector notices
	// Redundant checks refuse vectors that another check refuses for the same reason.
	// They may be the only ones to refuse other input.
	Redundant     []Result
	Open, Excused []Result // idle checks without and with a mark
	Stale         []*Mark  // marks of lines without an idle check on any processor
}

// Sum groups results by outcome and by the marks of their checks.
func Sum(results []Result) *Summary {
	s := &Summary{}
	needed := map[*Mark]bool{}
	for _, r := range results {
		switch {
		case r.Noticed == "":
			s.Redundant = append(s.Redundant, r)
		case r.Noticed != Idle:
			s.Guarded++
		case r.Mark != nil:
			s.Excused = append(s.Excused, r)
			needed[r.Mark] = true
		default:
			s.Open = append(s.Open, r)
		}
	}
	for _, r := range results {
		if r.Mark != nil && !r.Mark.Varies && !needed[r.Mark] {
			s.Stale = append(s.Stale, r.Mark)
			needed[r.Mark] = true // list it once
		}
	}
	return s
}

// String returns the summary as one line.
func (s *Summary) String() string {
	all := s.Guarded + len(s.Redundant) + len(s.Open) + len(s.Excused)
	return fmt.Sprintf("%d checks: %d guarded by a vector, %d redundant, %d that no vector can reach, %d idle",
		all, s.Guarded, len(s.Redundant), len(s.Excused), len(s.Open))
}

// Ask calls ask for each check that no vector guards, and once for all guarded checks: does a vector fail if
// the check is removed?
func (s *Summary) Ask(ask func(file, check string, outcome verdict.Outcome, detail string)) {
	at := func(r Result) string { return fmt.Sprintf("%s: %s", r.Func, r.Text) }
	ask("all files", "guarded checks", verdict.NotRefuted, fmt.Sprintf("%d checks", s.Guarded))
	for _, r := range s.Redundant {
		ask(r.File, at(r), verdict.NotRefuted, fmt.Sprintf("line %d: redundant: another check refuses the same vectors", r.Line))
	}
	for _, r := range s.Open {
		ask(r.File, at(r), verdict.Refuted, fmt.Sprintf("line %d: it refuses no vector", r.Line))
	}
	for _, r := range s.Excused {
		ask(r.File, at(r), verdict.NotTested, fmt.Sprintf("line %d: no vector can reach it: %s", r.Line, r.Mark.Reason))
	}
	for _, m := range s.Stale {
		ask(m.File, m.Reason, verdict.Refuted, fmt.Sprintf("line %d: marked, and not idle", m.Line))
	}
}
