package attack

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// Reproduce shows a refutation again, or says why it does not show. The deciding
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
	if !again.fell(p) {
		return fmt.Errorf("sealab: %s on %s: %s does not fall again", w.Attack, s.Name, p)
	}
	return nil
}

func find(id string) (*Refuter, error) {
	for _, r := range Catalog() {
		if r.ID == id {
			return &r, nil
		}
	}
	return nil, fmt.Errorf("sealab: no attack %q", id)
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
