package attack

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// A T is one run of one attack on one design. It is not safe for concurrent use.
type T struct {
	*tokenfmt.Source
	Design *Design
	Budget Budget

	attack     *Attack
	seed       uint64
	calls      int
	trials     map[codecs.Property]int
	refuted    map[codecs.Property]finding
	unshown    []string // findings whose evidence does not show their claim
	skipped    string
	noted      string
	incomplete error // the reason why the attack ended early
	faults     int
	firstFault *verdict.Call // the first call that ended in a fault
	late       []lateCall    // calls whose fault did not occur again
}

// A finding is a refutation before it is reported.
type finding struct {
	issue string
	calls []verdict.Call
}

func newT(d *Design, a *Attack, seed uint64, b Budget) *T {
	sum := sha256.Sum256(fmt.Appendf(nil, "sealab attack %d %s", seed, a.ID))
	return &T{
		Source: &tokenfmt.Source{Rand: rand.New(rand.NewChaCha8(sum)), Sweep: b.Sweep},
		Design: d, Budget: b, attack: a, seed: seed,
		trials: map[codecs.Property]int{}, refuted: map[codecs.Property]finding{},
	}
}

// Try counts an attempt on each property.
func (t *T) Try(ps ...codecs.Property) {
	for _, p := range ps {
		t.trials[p]++
	}
}

// Tried returns the number of attempts on p.
func (t *T) Tried(p codecs.Property) int { return t.trials[p] }

// Refute records that p was refuted by calls. The first finding of a property counts.
// The evidence has to show the usual claim about p; see [T.RefuteIf] for other claims.
func (t *T) Refute(p codecs.Property, issue string, calls ...verdict.Call) {
	t.RefuteIf(p, shows(p), issue, calls...)
}

// RefuteIf records that p was refuted by calls if they show the claim. A finding that
// its own evidence does not show is never reported.
func (t *T) RefuteIf(p codecs.Property, shows func([]verdict.Call) bool, issue string, calls ...verdict.Call) {
	if _, ok := t.refuted[p]; ok {
		return
	}
	if !shows(calls) {
		t.unshown = append(t.unshown, issue)
		return
	}
	t.refuted[p] = finding{issue, calls}
}

// RefuteEach is RefuteIf for several properties.
func (t *T) RefuteEach(ps []codecs.Property, shows func([]verdict.Call) bool, issue string, calls ...verdict.Call) {
	for _, p := range ps {
		t.RefuteIf(p, shows, issue, calls...)
	}
}

// Observe records a refutation of p that does not contradict a claim of p, because p has sound
// readings under which it holds. If the design claims p, it has no effect.
func (t *T) Observe(p codecs.Property, issue string, calls ...verdict.Call) {
	if t.Design.Claim(p) != verdict.Stated {
		t.RefuteIf(p, Anything, issue, calls...)
	}
}

// Fell reports whether p was refuted in this run.
func (t *T) Fell(p codecs.Property) bool {
	_, ok := t.refuted[p]
	return ok
}

// Skip records the reason why the attack is not applicable.
func (t *T) Skip(format string, args ...any) { t.skipped = fmt.Sprintf(format, args...) }

// Skipped reports whether Skip was called.
func (t *T) Skipped() bool { return t.skipped != "" }

// Note records how far the attack went.
func (t *T) Note(format string, args ...any) { t.noted = fmt.Sprintf(format, args...) }

// fault records a call that ended in neither result nor refusal.
func (t *T) fault(c verdict.Call) {
	t.faults++
	t.Design.faults.Add(1)
	t.keepFault(c)
}

// keepFault keeps the first call of the attack that ended in a fault.
func (t *T) keepFault(c verdict.Call) {
	if t.firstFault == nil {
		t.firstFault = &c
	}
}

// Faulty reports whether a call ended in a fault that counts.
func (t *T) Faulty() bool { return t.firstFault != nil }

// Broken reports whether the design had too many faults to be asked again.
func (t *T) Broken() bool {
	return t.Design.Worker != nil && t.faults >= faultsPerAttack || t.Design.Broken()
}

// Spent reports whether a long search has to end.
func (t *T) Spent() bool { return t.Budget.Calls > 0 && t.calls > t.Budget.Calls || t.over() != nil }

// over returns the reason why the run has to end, or nil if it continues.
func (t *T) over() error {
	if t.Budget.Spent == nil {
		return nil
	}
	return t.Budget.Spent()
}

// A cutOff is the panic value that ends an attack. It holds the reason.
type cutOff struct{ error }

// untilCutOff calls run. If run was cut off, it returns the reason.
func untilCutOff(run func()) (reason error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case cutOff:
			reason = r.error
		default:
			panic(r)
		}
	}()
	run()
	return nil
}

// ask counts n calls. It ends the attack if the run is over, so that a slow worker
// does not overrun the budget.
func (t *T) ask(n int) {
	if err := t.over(); err != nil {
		panic(cutOff{err})
	}
	t.calls += n
}

// run runs the attack, and runs it again if an answer was late.
func (t *T) run() {
	t.runOnce()
	t.rerun()
}

// ErrTimeOver is the reason for an attack that was left out or cut short because the time was
// over.
var ErrTimeOver = errors.New("the time of the run was over")

// runOnce runs the attack once. It records whether the process of the design was lost, and a
// fault as a refutation of total.
func (t *T) runOnce() {
	if err := untilCutOff(t.carryOut); err != nil {
		t.incomplete = fmt.Errorf("%w after %d calls of this attack", err, t.calls)
	}
	if t.Design.lost() != nil && t.incomplete == nil {
		t.incomplete = t.Design.broke()
	}
	if t.firstFault != nil {
		t.RefuteIf(codecs.Total, Anything, "a call ended in neither a result nor a refusal: "+t.firstFault.Answer.Text, *t.firstFault)
	}
}

// carryOut calls the attack's function, unless the attack is dropped, the design is broken or
// the run is over.
func (t *T) carryOut() {
	over := t.over()
	switch {
	case t.attack.Run == nil:
		t.Skip("%s", t.attack.Dropped)
	case t.Design.Broken() && !t.attack.Last:
		t.incomplete = t.Design.broke()
	case over != nil && !t.attack.Last:
		t.incomplete = over
	default:
		t.attack.Run(t)
	}
}

// Secret returns key number n of the run. Keys derive from the seed and protect no data.
func (t *T) Secret(n int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "sealab attack key %d %d", t.seed, n))
	return sum[:]
}

// Open opens the design under a ring.
func (t *T) Open(keys ...[]byte) (*Instance, error) { return t.OpenFor(nil, keys...) }

// OpenFor opens the design under a ring and a time to live.
func (t *T) OpenFor(ttl *time.Duration, keys ...[]byte) (in *Instance, err error) {
	t.ask(0)
	defer func() {
		if r := recover(); r != nil {
			t.fault(OpenCall(keys, ttl, verdict.Answer{Outcome: verdict.Fault, Text: fmt.Sprintf("panic: %v", r)}))
			err = fmt.Errorf("%w: panic", errRing)
		}
	}()
	if t.Broken() {
		return nil, fmt.Errorf("%w: %w", errRing, codecs.ErrFault)
	}
	said := len(t.Design.Breaches())
	opened, err := t.openFor(ttl, keys)
	if errors.Is(err, codecs.ErrFault) {
		fault := OpenCall(keys, ttl, verdict.Answer{Outcome: verdict.Fault, Text: err.Error()})
		t.settle(fault, said, func() verdict.Answer {
			if opened, err = t.openFor(ttl, keys); errors.Is(err, codecs.ErrFault) {
				return fault.Answer
			}
			return verdict.Answer{Outcome: verdict.Done}
		}, func() verdict.Answer {
			if _, err := t.openFor(nil, [][]byte{t.Secret(0)}); errors.Is(err, codecs.ErrFault) {
				return fault.Answer
			}
			return verdict.Answer{Outcome: verdict.Done}
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRing, err)
	}
	return &Instance{t: t, Keys: keys, ttl: ttl, opened: opened}, nil
}

func (t *T) openFor(ttl *time.Duration, keys [][]byte) (*lab.Instance, error) {
	return lab.Open(t.Design.Design, codecs.Config{Secrets: keys, TTL: ttl, Options: t.Design.Options})
}

// OpenCall returns the record of opening a ring with the given answer.
func OpenCall(keys [][]byte, ttl *time.Duration, a verdict.Answer) verdict.Call {
	return verdict.Call{Op: verdict.OpOpen, Keys: keys, TTL: ttl, Answer: a}
}

// Base opens the design under its first key and mints an ordinary token. If either fails, it
// records the reason and reports false.
func (t *T) Base() (*Instance, *Token, bool) {
	in, err := t.Open(t.Secret(0))
	if err != nil {
		t.Skip("the design does not open under a random secret of 32 bytes")
		return nil, nil, false
	}
	tok, ok := t.Mint(in, t.State(24))
	if !ok {
		t.Skip("the design does not seal an ordinary state, or refuses its own token")
	}
	return in, tok, ok
}

// Scheme is Base for attacks that apply to schemes only.
func (t *T) Scheme() (*Instance, *Token, bool) {
	if !t.Design.IsScheme() {
		t.Skip("a codec has no context and no time")
		return nil, nil, false
	}
	return t.Base()
}

// Mint mints state in the richest ordinary context that the design accepts.
func (t *T) Mint(in *Instance, state []byte) (*Token, bool) {
	for _, c := range append([]codecs.Context{Ordinary()}, Poorer(Ordinary())...) {
		if tok, ok := in.Mint(state, c); ok {
			return tok, true
		}
	}
	return nil, false
}

// State returns a JSON object with n random letters. Every token format can carry it.
func (t *T) State(n int) []byte { return fmt.Appendf(nil, `{"step":"%s"}`, t.Letters(n)) }

// LettersOf returns the random letters in a state made by [T.State].
func LettersOf(state []byte) []byte { return state[9 : len(state)-2] }

// Of returns a run of the same attack on another design.
func (t *T) Of(d *Design) *T { return newT(d, t.attack, t.seed, t.Budget) }

// TryTimes counts n attempts on p.
func (t *T) TryTimes(n int, p codecs.Property) { t.trials[p] += n }

// Untried reports whether no attempt was made.
func (t *T) Untried() bool { return len(t.trials) == 0 }
