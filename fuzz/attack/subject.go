package attack

import (
	"errors"
	"time"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/verdict"
)

// A Subject is a codec or scheme under attack, in this process or behind a
// worker: attacks do not learn which.
type Subject struct {
	codecs.Design
	Worker []string // the command, for witnesses; nil in process
	// Options choose among the design's variants.
	Options map[string]string
	// OwnClock says that the subject takes the time from elsewhere than its
	// arguments; attacks on time are then unexercised.
	OwnClock bool
	// Restart ends whatever the subject keeps outside its values, so that the
	// next call meets it as after a restart. nil: there is no such thing.
	Restart func() error
	// Misbehaviour says what the subject did beside its answers, as a worker can.
	// nil: there is nothing beside them.
	Misbehaviour func() []string
	// LastWords is the first misbehaviour of which the subject said more in a place
	// of its own, as a *worker.FaultError; it returns nil where there was none.
	// nil: the subject has no such place.
	LastWords func() error
	// Memory says what the subject's own processes hold, and begins a new peak.
	// nil: it is in this process.
	Memory func() (worker.Memory, error)

	spends  *bool            // whether a token is good for once; nil: not asked yet
	kin     map[int][][]byte // tokens beside which shapes are told, by their number of pieces
	faults  int              // calls so far that came neither to a result nor to a refusal
	excused []string         // misbehaviour at lines that the worker cannot read at all
}

// The number of faults after which a worker is no longer asked: in one attack, and
// in a campaign. One that hangs costs its deadline each time.
const (
	faultsPerAttack   = 2
	faultsPerCampaign = 8
)

// Broken reports that a worker had too many faults to be attacked further.
func (s *Subject) Broken() bool { return s.Worker != nil && s.faults >= faultsPerCampaign }

// said is what the subject did so far beside its answers.
func (s *Subject) said() []string {
	if s.Misbehaviour == nil {
		return nil
	}
	return s.Misbehaviour()
}

// excuse forgives what the subject did beside its answers from number n on.
func (s *Subject) excuse(n int) { s.excused = append(s.excused, s.said()[n:]...) }

// A Budget bounds a campaign by counts, so that its outcome depends on the seed
// alone.
type Budget struct {
	Seals   int // tokens in searches for repetition
	Unseals int // tokens in searches for a tag
	Bytes   int // longest hostile token; searches climb to it
	// Sweep is how many values are drawn of what is otherwise tried whole, as every
	// bit of a token: for campaigns that have other seeds to meet the rest. 0: all.
	Sweep int
	// Spent reports that the time given to the campaign is over: what has not
	// begun is then unexercised, and long searches end. nil: never.
	Spent func() bool
	// Calls is how many calls an attack may make before its long searches end. 0:
	// no bound of its own.
	Calls int
	// Stopwatch returns the time that the subject has worked since some fixed
	// moment, for attacks on work. nil: those are unexercised.
	Stopwatch func() time.Duration
}

// again is the budget to show once more what an attack came to in some calls: it
// ends by their number, for a time that was just enough is over by then. What two
// random values have in common may take a multiple of the calls to come again.
func (b Budget) again(calls int) Budget {
	b.Spent, b.Calls = nil, 16*calls+1<<12
	return b
}

// DefaultBudget is enough for every fault that the catalog of attacks names.
func DefaultBudget() Budget { return Budget{Seals: 1 << 16, Unseals: 1 << 16, Bytes: 64 << 20} }

// word returns what the design says of p.
func (s *Subject) word(p codecs.Property) verdict.Word {
	g, ok := s.Guarantee(p, s.Options)
	switch {
	case !ok:
		return verdict.Silent
	case g.Holds:
		return verdict.Stated
	default:
		return verdict.Disclaims
	}
}

// errRing is in the chain of the error of a ring that the subject refused.
var errRing = errors.New("the ring was refused")
