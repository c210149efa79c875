package attack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// ErrStands is the error of a reproduction that ran in full without refuting the property.
var ErrStands = errors.New("the property is not refuted again")

// Reproduce repeats a refutation. It returns nil if the property is refuted again, ErrStands if
// it is not, and another error if this could not be tested. It first repeats the deciding
// calls, in order, on fresh instances. If their answers differ, or if the finding is about
// sealing or cost, it runs the attack again under its seed.
func Reproduce(d *Design, a *Attack, p codecs.Property, w *verdict.Reproducer, b Budget) error {
	again, same := newT(d, a, w.Seed, b), false
	if !a.Measures && untilCutOff(func() { same = again.repeats(w.Calls) }) == nil && same {
		return nil
	}
	again = newT(d, a, w.Seed, b)
	again.run()
	asked := again.trials[p] > 0 || again.calls > 0 && again.skipped == "" && !a.Aims(p)
	switch {
	case again.Fell(p):
		return nil
	case again.incomplete != nil:
		return fmt.Errorf("%s on %s: %s was not tested: %w", w.Attack, d.Name, p, again.incomplete)
	case again.firstFault != nil:
		return fmt.Errorf("%s on %s: %s was not tested: a call ended in a fault: %s", w.Attack, d.Name, p, again.firstFault.Answer.Text)
	case !asked:
		return fmt.Errorf("%s on %s: %s was not tested: %s", w.Attack, d.Name, p, again.resultOf(p).Reason)
	default:
		return fmt.Errorf("%s on %s: %s: %w", w.Attack, d.Name, p, ErrStands)
	}
}

// repeats repeats the calls that present tokens. It reports whether there is at least one, all
// answers are as recorded, and each accepted token also opens in the context that it was sealed
// for. If it does not, sealing was changed since, and the token is a sound one for another context.
func (t *T) repeats(calls []verdict.Call) bool {
	opened := map[string]*Instance{}
	accepted := map[string]bool{}
	presented := 0
	for _, c := range calls {
		if c.Op == verdict.OpSeal {
			continue
		}
		if c.Op == verdict.OpOpen || c.Cut > 0 || c.Answer.Outcome == verdict.Fault || !t.answersAlike(opened, c) {
			return false
		}
		accepted[string(c.Token)] = c.Answer.Outcome == verdict.Done
		presented++
	}
	return presented > 0 && !slices.ContainsFunc(calls, func(c verdict.Call) bool {
		return c.Op == verdict.OpSeal && accepted[string(c.Answer.Out)] && !t.opensItsOwn(opened, c)
	})
}

// answersAlike repeats a call that presents a token, and reports whether the answer is as recorded.
func (t *T) answersAlike(opened map[string]*Instance, c verdict.Call) bool {
	in, err := t.instanceFor(opened, c)
	if err != nil {
		return false
	}
	a := in.Unseal(c.Token, *c.Context.Codecs()).Answer
	return a.Outcome == c.Answer.Outcome && a.Stage == c.Answer.Stage && bytes.Equal(a.Out, c.Answer.Out)
}

// opensItsOwn reports whether the token of a sealing opens in the context of the sealing.
func (t *T) opensItsOwn(opened map[string]*Instance, sealing verdict.Call) bool {
	in, err := t.instanceFor(opened, sealing)
	return err == nil && in.Unseal(sealing.Answer.Out, *sealing.Context.Codecs()).Answer.Outcome == verdict.Done
}

// instanceFor returns the instance for the ring and the time to live of a call, and opens it
// before the first such call.
func (t *T) instanceFor(opened map[string]*Instance, c verdict.Call) (*Instance, error) {
	if in, ok := opened[ringKey(c)]; ok {
		return in, nil
	}
	in, err := t.OpenFor(c.TTL, c.Keys...)
	if err == nil {
		opened[ringKey(c)] = in
	}
	return in, err
}

// ringKey returns a map key for the ring and the time to live of a call.
func ringKey(c verdict.Call) string {
	if c.TTL == nil {
		return fmt.Sprintf("%x", c.Keys)
	}
	return fmt.Sprintf("%x %d", c.Keys, *c.TTL)
}
