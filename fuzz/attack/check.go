package attack

import (
	"cmp"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// Check seals an ordinary state and opens the token, as nearly every attack does first. If a
// worker broke, the error wraps a *worker.FaultError. Check restarts a worker afterwards.
func Check(d *Design) error {
	err := d.check()
	if d.Restart == nil {
		return err
	}
	if failed := d.Restart(); failed != nil && err == nil {
		return failed
	}
	return err
}

// check tries the contexts from the richest to the poorest. If all fail it returns the error of
// the richest, because that context is the usual one.
func (d *Design) check() error {
	t := newT(d, &Attack{ID: "check"}, 0, Budget{})
	in, err := lab.Open(d.Design, codecs.Config{Secrets: [][]byte{t.Secret(0)}, Options: d.Options})
	if err != nil {
		return fmt.Errorf("%s does not open under a random secret of 32 bytes: %w", d.Name, err)
	}
	contexts := []codecs.Context{Ordinary()}
	if d.IsScheme() {
		contexts = append(contexts, Poorer(Ordinary())...)
	}
	var first error
	for _, c := range contexts {
		err := d.roundTrip(in.At(&c), t.State(24))
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (d *Design) roundTrip(c codecs.Codec, state []byte) error {
	token, err := c.Seal(nil, state)
	if err != nil {
		return fmt.Errorf("%s does not seal %q: %w", d.Name, state, err)
	}
	if _, err := c.Unseal(nil, token); err != nil {
		if r := codecs.Rejected(err); r != nil {
			err = fmt.Errorf("%w: %s (%s)", err, r.Stage, r.Reason)
		}
		return fmt.Errorf("%s does not accept its own token %q: %w", d.Name, token, err)
	}
	return nil
}
