package targets

import (
	"bytes"
	"errors"
	"fmt"

	"sealab/codecs"
)

// unsupported stands in the place of a refusal for the third outcome: a token
// that is sound, with a state that the design cannot hand over.
var unsupported = codecs.Reject(0, "not supported")

// open unseals a token: see answer.
func (s *subject) open(token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	return s.answer(s.codec, token)
}

// answer unseals a token with a codec of the design and checks that the answer is
// one of the three that there may be, and that dst is as the contract has it.
// refused is nil where the token was accepted. The codec gets a copy of the token:
// tokens that are kept would carry a change into other executions.
func (s *subject) answer(codec codecs.Codec, token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	const before = "kept"
	memory := make([]byte, len(token)+len(before)+len(token)*3/4) // no payload is longer than what its token says in base64
	given, dst := memory[:len(token):len(token)], memory[len(token):]
	copy(given, token)
	out, err := codec.Unseal(dst[:copy(dst, before)], given)
	if !bytes.Equal(given, token) {
		return nil, nil, fmt.Errorf("%s: opening changed the token %q", s.Name, token)
	}
	if err == nil {
		if !bytes.HasPrefix(out, []byte(before)) {
			return nil, nil, fmt.Errorf("%s: opening %q overwrote dst", s.Name, token)
		}
		return out[len(before):], nil, nil
	}
	if refused = codecs.Rejected(err); refused == nil && errors.Is(err, codecs.ErrUnsupported) {
		refused, err = unsupported, unsupported
	}
	switch {
	case refused == nil:
		return nil, nil, fmt.Errorf("%s: opening %q failed without a refusal: %w", s.Name, token, err)
	case string(out) != before:
		return nil, nil, fmt.Errorf("%s: refusing %q changed dst to %q", s.Name, token, out)
	case err.Error() != refused.Error():
		return nil, nil, fmt.Errorf("%s: a refusal says %q", s.Name, err)
	}
	return nil, refused, nil
}

// requireSame returns an error unless token opens to payload.
func (s *subject) requireSame(token, payload []byte) error {
	got, refused, err := s.open(token)
	if err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("%s: its own token %q was refused: %s, %s", s.Name, token, refused.Stage, refused.Reason)
	}
	if !s.same(payload, got) {
		return fmt.Errorf("%s: sealed %q and got %q back from %q", s.Name, payload, got, token)
	}
	return nil
}

// requireNoGain returns an error when an altered token is accepted that the
// design promises to refuse: altogether where it has one spelling, with another
// payload in any case.
func (s *subject) requireNoGain(token, altered, payload []byte) error {
	got, refused, err := s.open(altered)
	if err != nil || refused != nil {
		return err
	}
	return s.gain(token, altered, payload, got)
}

// gain returns the error that it is for an altered token to open to got, or nil
// where the design does not promise to refuse it.
func (s *subject) gain(token, altered, payload, got []byte) error {
	if s.holds(codecs.Canonical) {
		return fmt.Errorf("%s: %q is accepted beside %q", s.Name, altered, token)
	}
	if !s.same(payload, got) {
		return fmt.Errorf("%s: %q, made of %q, opens to %q and not to %q", s.Name, altered, token, got, payload)
	}
	return nil
}

// requireRepeated returns an error unless opening a token gives that answer.
func (s *subject) requireRepeated(token, first []byte, refused *codecs.RejectError) error {
	second, refusedAgain, err := s.open(token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(first, second) {
		return fmt.Errorf("%s: %q is answered in two ways", s.Name, token)
	}
	return nil
}

// sameRefusal reports whether two answers agree on verdict, stage and reason.
func sameRefusal(a, b *codecs.RejectError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
