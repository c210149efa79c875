package attack

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/verdict"
)

// A Design is a codec or scheme under attack, in this process or behind a worker.
type Design struct {
	codecs.Design
	Worker []string // the command, printed in findings; nil if the design is in this process
	// Options select a variant of the design.
	Options map[string]string
	// OwnClock reports that the design does not take the time from its arguments. If so,
	// attacks on time are not tested.
	OwnClock bool
	// Restart restarts the process of the design, so that the next call reaches a fresh
	// process. It is nil if there is no process.
	Restart func() error
	// Misbehavior returns the breaches of the worker protocol so far. It is nil if
	// there is no worker.
	Misbehavior func() []string
	// LastWords returns the first misbehavior with text on standard error, as a
	// *worker.FaultError, or nil if the worker wrote no text.
	LastWords func() error
	// Memory returns the memory of the design's processes and resets the peak. It is nil if the
	// design is in this process.
	Memory func() (worker.Memory, error)

	// Work returns the processor time of the design's processes. It is nil if the design
	// is in this process.
	Work func() (time.Duration, error)
	// Waited returns the total time of the deadlines that passed without an answer. It is nil
	// if there is no process.
	Waited func() time.Duration
	// Lost returns the reason why the process ended and did not start again, or nil. The
	// function is nil if there is no process.
	Lost func() error

	mu      sync.Mutex
	spends  *bool                     // whether a token is accepted only once; nil if not yet known
	twins   atomic.Int64              // tokens opened in place of the returned one, see [Instance.Mint]
	similar map[int][][]byte          // reference tokens by number of segments
	excused []string                  // misbehavior at unreadable lines or that load can cause
	certain []string                  // misbehavior that load can cause but that showed each time
	slow    atomic.Bool               // too slow to judge a batch of honest tokens in time
	faults  atomic.Int64              // calls so far that ended in neither a result nor a refusal
	hangs   atomic.Int64              // calls so far that had no answer, not counting repetitions
	hung    map[callID]verdict.Answer // those calls, with their answers
}

// The numbers of faults after which the runner stops asking a worker: in one attack, and in a
// run. A call without an answer costs several deadlines, so the limit for hangs is lower.
const (
	faultsPerAttack = 2
	faultsPerRun    = 24
	hangsPerRun     = 4
)

// Broken reports that a worker had too many faults to be attacked further.
func (d *Design) Broken() bool { return d.broke() != nil }

// broke returns the reason why a worker is not attacked further, or nil.
func (d *Design) broke() error {
	switch hangs, faults := d.hangs.Load(), d.faults.Load(); {
	case d.Worker == nil:
		return nil
	case d.lost() != nil:
		return fmt.Errorf("the worker did not start again: %w", d.lost())
	case hangs >= hangsPerRun:
		return fmt.Errorf("the worker gave no answer %d times and is not asked again", hangs)
	case faults >= faultsPerRun:
		return fmt.Errorf("the worker broke %d times and is not asked again", faults)
	default:
		return nil
	}
}

func (d *Design) lost() error {
	if d.Lost == nil {
		return nil
	}
	return d.Lost()
}

// measuredTogether reports that other work adds to the memory or the processor time of the
// design. That is so if the design is in this process, or if the system does not report those
// of its processes.
func (d *Design) measuredTogether() bool {
	if d.Memory == nil || d.Work == nil {
		return true
	}
	_, noMemory := d.Memory()
	_, noWork := d.Work()
	return noMemory != nil || noWork != nil
}

// Breaches returns the misbehavior of the design so far.
func (d *Design) Breaches() []string {
	if d.Misbehavior == nil {
		return nil
	}
	return d.Misbehavior()
}

// Excuse marks the breaches from number n on as not counting against the design.
func (d *Design) Excuse(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.excused = append(d.excused, d.Breaches()[n:]...)
}

// Claim returns the claim of the design about p.
func (d *Design) Claim(p codecs.Property) verdict.Claim {
	g, ok := d.Guarantee(p, d.Options)
	switch {
	case !ok:
		return verdict.Silent
	case g.Holds:
		return verdict.Stated
	default:
		return verdict.Disclaims
	}
}

// A Budget bounds a run. If Spent is nil, the outcome depends on the seed alone.
type Budget struct {
	Seals   int // number of tokens in searches for repetition
	Unseals int // number of tokens in searches for a tag
	Bytes   int // length of the longest hostile token, in bytes
	// Sweep is the number of values drawn from a range that is enumerated otherwise, for
	// example every bit of a token. 0 means all.
	Sweep int
	// Spent returns the reason why the run is over, or nil. Attacks that have not ended by then
	// are not tested. If the function is nil, the run has no end.
	Spent func() error
	// Overdue returns the reason why findings may no longer be reproduced either, or nil. If
	// the function is nil, they always may.
	Overdue func() error
	// Calls is the number of calls after which a long search of one attack ends. 0 means no
	// limit.
	Calls int
	// Stopwatch returns the time that the design has worked since a fixed moment. If it is nil,
	// attacks on work are not tested.
	Stopwatch func() time.Duration
}

// Within returns a function that returns [ErrTimeOver] once passed exceeds limit.
func Within(passed func() time.Duration, limit time.Duration) func() error {
	return func() error {
		if passed() > limit {
			return ErrTimeOver
		}
		return nil
	}
}

// again returns the budget for showing a finding once more, after an attack that made the given
// number of calls. That number bounds it, because time that was just enough is over by then. A
// repetition that occurs by chance may need several times the calls and tokens to occur again.
func (b Budget) again(calls int) Budget {
	b.Spent, b.Calls, b.Seals = b.Overdue, 16*calls+1<<12, 3*b.Seals
	return b
}

// DefaultBudget is large enough to find every fault that the attacks are known to find.
func DefaultBudget() Budget { return Budget{Seals: 1 << 16, Unseals: 1 << 16, Bytes: 64 << 20} }

// errRing is wrapped in the error of a ring that the design refused.
var errRing = errors.New("ring refused")
