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
	Worker []string // the command, for findings; nil if the design is in this process
	// Options choose among the design's variants.
	Options map[string]string
	// OwnClock reports that the design does not take the time from its arguments.
	// Attacks on time are then not tested.
	OwnClock bool
	// Restart starts the design's process again, so that the next call meets it as
	// after a restart. It is nil if there is no process.
	Restart func() error
	// Misbehaviour returns the breaches of the worker protocol so far. It is nil if
	// there is no worker.
	Misbehaviour func() []string
	// LastWords returns the first misbehaviour with text on standard error, as a
	// *worker.FaultError; nil if it wrote no text.
	LastWords func() error
	// Memory returns the memory of the design's processes, and begins a new peak. It is
	// nil if the design is in this process.
	Memory func() (worker.Memory, error)

	// Work returns the processor time of the design's processes. It is nil if the design
	// is in this process.
	Work func() (time.Duration, error)
	// Waited returns the time of the deadlines that passed without an answer. It is nil
	// if there is no process.
	Waited func() time.Duration
	// Lost returns the reason why the design has no process any more, which did not start
	// again. It is nil if there is no process.
	Lost func() error

	mu      sync.Mutex
	spends  *bool                     // whether a token is accepted once only; nil if not asked yet
	twins   atomic.Int64              // tokens that were opened in the place of others
	similar map[int][][]byte          // reference tokens by number of segments
	excused []string                  // misbehaviour at lines that the worker cannot read, or that load can cause
	certain []string                  // misbehaviour that load can cause and that showed each time
	slow    atomic.Bool               // it judges no batch of honest tokens in time
	faults  atomic.Int64              // calls so far that ended in neither result nor refusal
	hangs   atomic.Int64              // calls so far that had no answer, not counting repetitions
	hung    map[callID]verdict.Answer // these calls
}

// The number of faults after which a worker is not asked again: in one attack, and in a
// run. A call without an answer costs several deadlines, so that fewer of them count.
const (
	faultsPerAttack = 2
	faultsPerRun    = 8
	hangsPerRun     = 4
)

// Broken reports that a worker had too many faults to be attacked further.
func (d *Design) Broken() bool { return d.broke() != nil }

// broke returns the reason why a worker is not attacked further, if there is one.
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

// measuredTogether reports that other work adds to the memory or to the processor time of
// the design: it is in this process, or the system does not tell those of its processes.
func (d *Design) measuredTogether() bool {
	if d.Memory == nil || d.Work == nil {
		return true
	}
	_, noMemory := d.Memory()
	_, noWork := d.Work()
	return noMemory != nil || noWork != nil
}

// Breaches returns the misbehaviour of the design so far.
func (d *Design) Breaches() []string {
	if d.Misbehaviour == nil {
		return nil
	}
	return d.Misbehaviour()
}

// Excuse forgives the breaches from number n on.
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

// A Budget bounds a run. Without Spent its outcome depends on the seed alone.
type Budget struct {
	Seals   int // tokens in searches for repetition
	Unseals int // tokens in searches for a tag
	Bytes   int // length of the longest hostile token
	// Sweep is the number of values that are drawn from a range that is otherwise
	// enumerated, for example every bit of a token; 0 means all.
	Sweep int
	// Spent returns the reason why the run is over. Attacks that have not ended are
	// then not tested. nil: never.
	Spent func() error
	// Overdue returns the reason why findings may not be reproduced either. nil: never.
	Overdue func() error
	// Calls is the number of calls after which long searches of one attack end; 0 means
	// no limit.
	Calls int
	// Stopwatch returns the time that the design has worked since a fixed moment, for
	// attacks on work. nil: those are not tested.
	Stopwatch func() time.Duration
}

// Within returns a function that returns [ErrTimeOver] once more time has passed than a limit.
func Within(passed func() time.Duration, limit time.Duration) func() error {
	return func() error {
		if passed() > limit {
			return ErrTimeOver
		}
		return nil
	}
}

// again returns the budget to show a finding once more, after an attack that made some
// calls. It is bounded by their number, because time that was just enough is over by
// then. A random repetition may take a multiple of the calls, and of the tokens, to come
// again.
func (b Budget) again(calls int) Budget {
	b.Spent, b.Calls, b.Seals = b.Overdue, 16*calls+1<<12, 3*b.Seals
	return b
}

// DefaultBudget is enough for every fault that the attacks are known to find.
func DefaultBudget() Budget { return Budget{Seals: 1 << 16, Unseals: 1 << 16, Bytes: 64 << 20} }

// errRing is in the chain of the error of a ring that the design refused.
var errRing = errors.New("ring refused")
