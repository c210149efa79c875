package attack

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// A Runner runs attacks on designs.
type Runner struct {
	Attacks []Attack
	Seed    uint64
	Budget  Budget
	// Progress is called before each attack, and Done after it with its outcomes. Calls are
	// never concurrent. Either may be nil.
	Progress func(attack string, n, of int)
	Done     func(attack string, results []verdict.Result, calls int)
	// Resume returns the outcomes of an attack that an earlier run kept, or nil. It may be nil.
	Resume func(attack string) []verdict.Result
}

// Attack attacks a design. If several are given, they must be copies of one design, for example
// workers of one command. The attacks are then distributed among them and run side by side.
// Outcomes are in the order of the attacks.
func (r *Runner) Attack(designs ...*Design) verdict.Design {
	d := designs[0]
	out := verdict.Design{Name: d.Name, Kind: d.Kind(), Worker: d.Worker, Options: d.Options}
	all := make([]outcome, len(r.Attacks))
	s := &session{Runner: r, all: all, order: orderFor(r.Attacks, d), apart: !slices.ContainsFunc(designs, (*Design).measuredTogether)}
	s.sideBySide(designs)
	for i := range r.Attacks {
		if a := &r.Attacks[i]; a.Measures && !a.Last && !s.apart {
			s.carryOut(d, i)
		}
	}
	for i := range r.Attacks {
		if !r.Attacks[i].Last {
			continue
		}
		for _, d := range designs {
			if !anyRefuted(all[i].results) {
				s.carryOut(d, i)
			}
		}
	}
	for _, o := range all {
		out.Results = append(out.Results, o.results...)
		out.Calls += o.calls
	}
	return out
}

// orderFor returns the indices of attacks in the order in which they run on d: those that are aimed at a
// property which d states, and the first ones, come before the others. A run of a slow design then has more
// time for its claims.
func orderFor(all []Attack, d *Design) []int {
	later := func(a Attack) bool {
		return !a.First && !slices.ContainsFunc(a.Refutes, func(p codecs.Property) bool { return d.Claim(p) == verdict.Stated })
	}
	var first, rest []int
	for i, a := range all {
		if later(a) {
			rest = append(rest, i)
		} else {
			first = append(first, i)
		}
	}
	return append(first, rest...)
}

// An outcome holds the results of one attack.
type outcome struct {
	results []verdict.Result
	calls   int
}

// A session is one run of a runner on one design.
type session struct {
	*Runner
	all   []outcome
	order []int // of the attacks
	apart bool  // memory and work are measured separately for each copy

	mu    sync.Mutex
	next  int
	begun int
}

// sideBySide runs the attacks that may run beside others, on all designs concurrently.
func (s *session) sideBySide(designs []*Design) {
	var wg sync.WaitGroup
	for _, d := range designs {
		wg.Go(func() {
			for i, ok := s.take(); ok; i, ok = s.take() {
				s.carryOut(d, i)
			}
		})
	}
	wg.Wait()
}

// take returns the index of the next attack that may run beside others.
func (s *session) take() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.next < len(s.order) {
		i := s.order[s.next]
		s.next++
		if a := &s.Attacks[i]; !a.Last && (!a.Measures || s.apart) {
			return i, true
		}
	}
	return 0, false
}

// carryOut runs attack i on d, unless an earlier run kept its outcomes. The last attack judges the calls of
// this run too, so that only its refutations are kept.
func (s *session) carryOut(d *Design, i int) {
	a := &s.Attacks[i]
	s.mu.Lock()
	if s.Progress != nil {
		s.Progress(a.ID, min(s.begun, len(s.Attacks)-1), len(s.Attacks))
	}
	s.begun++
	s.mu.Unlock()
	var o outcome
	if s.Resume != nil {
		o.results = s.Resume(a.ID)
	}
	if o.results == nil || a.Last && !anyRefuted(o.results) {
		o.results, o.calls = s.runAttack(d, a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[i] = o
	if s.Done != nil {
		s.Done(a.ID, o.results, o.calls)
	}
}

func anyRefuted(results []verdict.Result) bool {
	return slices.ContainsFunc(results, func(c verdict.Result) bool { return c.Outcome == verdict.Refuted })
}

// runAttack runs one attack and keeps the refutations that can be reproduced.
func (r *Runner) runAttack(d *Design, a *Attack) ([]verdict.Result, int) {
	t := newT(d, a, r.Seed, r.Budget)
	t.run()
	results := t.results()
	for i := range results {
		c := &results[i]
		if c.Outcome != verdict.Refuted {
			continue
		}
		if err := Reproduce(d, a, c.Property, c.Reproducer, r.Budget.again(t.calls)); err != nil {
			c.Outcome, c.Reason = verdict.NotTested, fmt.Sprintf("seen once and not again (%v): %s", err, c.Issue)
			c.Incomplete = r.Budget.Overdue != nil && r.Budget.Overdue() != nil
			c.Issue, c.Gain, c.Reproducer = "", "", nil
		}
	}
	return results, t.calls
}

// results returns one outcome for each property that the attack is aimed at, and for each
// further property that it refuted.
func (t *T) results() []verdict.Result {
	aims := slices.Clone(t.attack.Refutes)
	for _, info := range codecs.Properties() {
		if t.Fell(info.Property) && !slices.Contains(aims, info.Property) {
			aims = append(aims, info.Property)
		}
	}
	var results []verdict.Result
	for _, p := range aims {
		if schemeOnly(p) && !t.Design.IsScheme() {
			continue
		}
		results = append(results, t.resultOf(p))
	}
	return results
}

// resultOf returns the outcome on one property.
func (t *T) resultOf(p codecs.Property) verdict.Result {
	c := verdict.Result{Property: p, Attack: t.attack.ID, Name: t.attack.Name, Claim: t.Design.Claim(p), Trials: t.trials[p], CWE: t.attack.CWE, Minor: t.attack.Minor}
	f, fell := t.refuted[p]
	switch {
	case fell:
		c.Outcome, c.Issue, c.Gain = verdict.Refuted, f.issue, t.attack.Gain
		if p == codecs.Total && !t.attack.Aims(p) {
			c.Gain = "a server that crashes, hangs or breaks the protocol"
		}
		c.Trials = max(c.Trials, 1)
		c.Reproducer = &verdict.Reproducer{Attack: t.attack.ID, Seed: t.seed, Calls: truncateTokens(f.calls)}
	case t.incomplete != nil:
		c.Outcome, c.Reason, c.Incomplete = verdict.NotTested, t.incomplete.Error(), true
		c.TimeOver = errors.Is(t.incomplete, ErrTimeOver)
	case len(t.unshown) > 0:
		c.Outcome, c.Reason = verdict.NotTested, "the evidence does not show the claim: "+t.unshown[0]
	case c.Trials > 0:
		c.Outcome, c.Note = verdict.NotRefuted, t.noted
	default:
		c.Outcome, c.Reason = verdict.NotTested, t.skipped
		if c.Reason == "" {
			c.Reason = "the tokens and contexts of this design offer the attack no hold"
		}
	}
	return c
}

// truncateTokens shortens tokens and outputs, and drops states, that are too long for a
// finding.
func truncateTokens(calls []verdict.Call) []verdict.Call {
	for i := range calls {
		if n := len(calls[i].Token); n > verdict.MaxToken {
			calls[i].Token, calls[i].Cut = calls[i].Token[:64], n
		}
		if len(calls[i].State) > verdict.MaxToken {
			calls[i].State = nil
		}
		if len(calls[i].Answer.Out) > verdict.MaxToken {
			calls[i].Answer.Out = calls[i].Answer.Out[:64]
		}
	}
	return calls
}

func schemeOnly(p codecs.Property) bool {
	for _, info := range codecs.Properties() {
		if info.Property == p {
			return info.SchemeOnly
		}
	}
	return false
}

// Find returns the attack with the given ID.
func Find(all []Attack, id string) (*Attack, error) {
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("unknown attack %q", id)
}
