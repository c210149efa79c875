package attack

import (
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// A Campaign is a choice of attacks, and what they may spend.
type Campaign struct {
	Seed   uint64
	Budget Budget
	// Only are the ids of the attacks to carry out, or families as "ENC". Empty: all.
	Only []string
	// Progress is called before each attack. nil: nobody looks.
	Progress func(attack string, n, of int)
}

// Select returns the attacks that the campaign carries out. An id that matches
// nothing is an error.
func (c *Campaign) Select() ([]Refuter, error) {
	all := Catalog()
	if len(c.Only) == 0 {
		return all, nil
	}
	var chosen []Refuter
	for _, id := range c.Only {
		n := len(chosen)
		for _, r := range all {
			if r.ID == strings.ToUpper(id) || strings.HasPrefix(r.ID, strings.ToUpper(id)+"-") {
				chosen = append(chosen, r)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("sealab: no attack %q; sealab attack --list names them", id)
		}
	}
	return chosen, nil
}

// Attack carries the campaign out on one subject.
func (c *Campaign) Attack(s *Subject) (verdict.Subject, error) {
	attacks, err := c.Select()
	if err != nil {
		return verdict.Subject{}, err
	}
	out := verdict.Subject{Name: s.Name, Kind: s.Kind(), Worker: s.Worker, Options: s.Options}
	for i := range attacks {
		if c.Progress != nil {
			c.Progress(attacks[i].ID, i, len(attacks))
		}
		cells, calls := c.one(s, &attacks[i])
		out.Cells = append(out.Cells, cells...)
		out.Calls += calls
	}
	return out, nil
}

// one carries out one attack and keeps of its refutations those that show again.
func (c *Campaign) one(s *Subject, r *Refuter) ([]verdict.Cell, int) {
	t := newTrial(s, r, c.Seed, c.Budget)
	t.run()
	cells := t.cells()
	for i := range cells {
		if cells[i].Verdict != verdict.Refuted {
			continue
		}
		if err := Reproduce(s, cells[i].Property, cells[i].Witness, c.Budget.again(t.calls)); err != nil {
			cells[i].Verdict, cells[i].Reason = verdict.Unexercised, "seen once and not again: "+cells[i].Issue
			cells[i].Issue, cells[i].Gain, cells[i].Witness = "", "", nil
		}
	}
	return cells, t.calls
}

// run carries the attack out, unless it is dropped or there is no time.
func (t *Trial) run() {
	switch {
	case t.attack.Run == nil:
		t.skip("%s", t.attack.Dropped)
	case t.Subject.Broken() && t.attack.ID != misbehaviourID:
		t.skip("the subject broke %d times and is no longer asked", t.Subject.faults)
	case t.spent() && t.attack.ID != misbehaviourID:
		t.skip("the time given to the campaign was over")
	default:
		t.attack.Run(t)
	}
	if t.firstBad != nil {
		t.refute(codecs.Total, "a call came neither to a result nor to a refusal: "+t.firstBad.Answer.Text, *t.firstBad)
	}
}

// cells are the outcome, one cell per property that the attack is aimed at or
// that fell to it by the way.
func (t *Trial) cells() []verdict.Cell {
	aims := slices.Clone(t.attack.Refutes)
	for _, info := range codecs.Properties() {
		if t.fell(info.Property) && !slices.Contains(aims, info.Property) {
			aims = append(aims, info.Property)
		}
	}
	var cells []verdict.Cell
	for _, p := range aims {
		if schemeOnly(p) && !t.Subject.IsScheme() {
			continue
		}
		cells = append(cells, t.cell(p))
	}
	return cells
}

func (t *Trial) cell(p codecs.Property) verdict.Cell {
	c := verdict.Cell{Property: p, Attack: t.attack.ID, Name: t.attack.Name, Word: t.Subject.word(p), Trials: t.trials[p]}
	f, fell := t.refuted[p]
	switch {
	case fell:
		c.Verdict, c.Issue, c.Gain = verdict.Refuted, f.issue, t.attack.Gain
		if p == codecs.Total && !t.attack.Aims(p) {
			c.Gain = "a server that dies, hangs or answers nonsense"
		}
		c.Trials = max(c.Trials, 1)
		c.Witness = &verdict.Witness{Attack: t.attack.ID, Seed: t.seed, Calls: short(f.calls)}
	case c.Trials > 0:
		c.Verdict, c.Note = verdict.Standing, t.noted
	default:
		c.Verdict, c.Reason = verdict.Unexercised, t.skipped
		if c.Reason == "" {
			c.Reason = "nothing in this subject's tokens or contexts offers the attack a hold"
		}
	}
	return c
}

// short cuts tokens that are too long for a witness.
func short(calls []verdict.Call) []verdict.Call {
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
