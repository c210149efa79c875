package attack

import (
	"cmp"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// Rehearse seals one ordinary state and opens it again, as nearly every attack
// begins. Its error says how that failed, with the *worker.FaultError of a worker
// that broke in its chain; nil: it did not. A worker is started anew afterwards.
func Rehearse(s *Subject) error {
	err := s.rehearse()
	if s.Restart == nil {
		return err
	}
	if failed := s.Restart(); failed != nil && err == nil {
		return failed
	}
	return err
}

// rehearse tries the contexts from the richest to the poorest. The first failure
// is that of what a server usually asks for, so it is the one to tell.
func (s *Subject) rehearse() error {
	t := newTrial(s, &Refuter{ID: "rehearsal"}, 0, Budget{})
	config := codecs.Config{Secrets: [][]byte{t.secret(0)}, Options: s.Options}
	state := t.state(24)
	in, err := lab.Open(s.Design, config)
	if err != nil {
		return fmt.Errorf("sealab: %s does not open under a random secret of 32 bytes: %w", s.Name, err)
	}
	contexts := []verdict.Context{context()}
	if s.IsScheme() {
		contexts = append(contexts, poorer(context())...)
	}
	var first error
	for _, c := range contexts {
		err := s.roundTrip(in.At(c.Codecs()), state)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

func (s *Subject) roundTrip(c codecs.Codec, state []byte) error {
	token, err := c.Seal(nil, state)
	if err != nil {
		return fmt.Errorf("sealab: %s does not seal %q: %w", s.Name, state, err)
	}
	if _, err := c.Unseal(nil, token); err != nil {
		return fmt.Errorf("sealab: %s does not take its own token %q: %w", s.Name, token, refusal(err))
	}
	return nil
}

// refusal adds to a refusal what it does not say to a presenter.
func refusal(err error) error {
	if r := codecs.Rejected(err); r != nil {
		return fmt.Errorf("%w: %s (%s)", err, r.Stage, r.Reason)
	}
	return err
}
