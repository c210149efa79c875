package attack

import (
	"bytes"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// ErrStands is the error of a reproduction that was carried out in full and came
// to no refutation.
var ErrStands = errors.New("the property does not fall again")

// Reproduce shows a refutation again. It returns nil if it shows, ErrStands if it
// does not, and any other error if it could not be tested. The deciding
// calls of the witness are made once more, in order, on parties opened afresh;
// where that does not give the same answers, since sealing is random or what
// decided was sealing itself, or where no answer decided but what it cost, the
// attack is run again under its seed.
func Reproduce(s *Subject, p codecs.Property, w *verdict.Witness, b Budget) error {
	r, err := find(w.Attack)
	if err != nil {
		return err
	}
	if !r.Measures && repeats(newTrial(s, r, w.Seed, b), w.Calls) {
		return nil
	}
	again := newTrial(s, r, w.Seed, b)
	again.run()
	asked := again.trials[p] > 0 || again.calls > 0 && again.skipped == "" && !r.Aims(p)
	switch {
	case again.fell(p):
		return nil
	case again.firstBad != nil:
		return fmt.Errorf("%s on %s: %s was not tested: a call came to a fault: %s", w.Attack, s.Name, p, again.firstBad.Answer.Text)
	case !asked:
		return fmt.Errorf("%s on %s: %s was not tested: %s", w.Attack, s.Name, p, again.cell(p).Reason)
	default:
		return fmt.Errorf("%s on %s: %s: %w", w.Attack, s.Name, p, ErrStands)
	}
}

func find(id string) (*Refuter, error) {
	for _, r := range Catalog() {
		if r.ID == id {
			return &r, nil
		}
	}
	return nil, fmt.Errorf("no attack %q", id)
}

// repeats makes the calls that present tokens again and reports whether there
// are any and all answers are as recorded.
func repeats(t *Trial, calls []verdict.Call) bool {
	parties := map[string]*Party{}
	presented := 0
	for _, c := range calls {
		if c.Op == verdict.OpSeal {
			continue
		}
		if c.Op == verdict.OpOpen || c.Cut > 0 || c.Answer.Outcome == verdict.Fault {
			return false
		}
		p, ok := parties[ring(c)]
		if !ok {
			var err error
			if p, err = t.partyFor(c.TTL, c.Keys...); err != nil {
				return false
			}
			parties[ring(c)] = p
		}
		if !equal(p.unseal(c.Token, contextOf(c)).Answer, c.Answer) {
			return false
		}
		presented++
	}
	return presented > 0
}

func contextOf(c verdict.Call) verdict.Context {
	if c.Context == nil {
		return verdict.Context{}
	}
	return *c.Context
}

func ring(c verdict.Call) string {
	if c.TTL == nil {
		return fmt.Sprintf("%x", c.Keys)
	}
	return fmt.Sprintf("%x %d", c.Keys, *c.TTL)
}

func equal(a, b verdict.Answer) bool {
	return a.Outcome == b.Outcome && a.Stage == b.Stage && bytes.Equal(a.Out, b.Out)
}
