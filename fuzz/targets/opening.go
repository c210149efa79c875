package targets

import (
	"bytes"
	"errors"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
)

// errUnsupported stands for the third outcome where a refusal is expected: a sound token whose
// state the design cannot return.
var errUnsupported = codecs.Reject(0, "not supported")

// open unseals a token in program.Context; see answer.
func (s *instance) open(token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	return s.answer(s.codec, token)
}

// answer unseals a token with a codec of the design. It checks that the outcome is one of the
// three of the contract, and that dst is as the contract requires. If the token is accepted,
// refused is nil. The codec gets a copy of the token, so that it cannot change a token that
// later executions use.
func (s *instance) answer(codec codecs.Codec, token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	const before = "kept"
	memory := make([]byte, len(token)+len(before)+len(token)*3/4) // no payload exceeds its decoded token
	given, dst := memory[:len(token):len(token)], memory[len(token):]
	copy(given, token)
	out, err := codec.Unseal(dst[:copy(dst, before)], given)
	if !bytes.Equal(given, token) {
		return nil, nil, harness.Fail(s.Name, "opening changes the token", "%q", token)
	}
	if err == nil {
		if !bytes.HasPrefix(out, []byte(before)) {
			return nil, nil, harness.Fail(s.Name, "opening overwrites dst", "%q", token)
		}
		return out[len(before):], nil, nil
	}
	if refused = codecs.Rejected(err); refused == nil && errors.Is(err, codecs.ErrUnsupported) {
		refused, err = errUnsupported, errUnsupported
	}
	switch {
	case refused == nil:
		return nil, nil, harness.Fail(s.Name, "opening fails without a refusal", "%v: %q", err, token)
	case string(out) != before:
		return nil, nil, harness.Fail(s.Name, "a refusal changes dst", "to %q for %q", out, token)
	case err.Error() != refused.Error():
		return nil, nil, harness.Fail(s.Name, "a refusal has another text than all others", "%q", err)
	}
	return nil, refused, nil
}

// requireSame returns an error unless token opens to payload.
func (s *instance) requireSame(token, payload []byte) error {
	got, refused, err := s.open(token)
	if err != nil {
		return err
	}
	if refused != nil {
		return harness.Fail(s.Name, "an own token is refused", "%s, %s: %q", refused.Stage, refused.Reason, token)
	}
	if !s.same(payload, got) {
		return harness.Fail(s.Name, "a token opens to another payload", "sealed %q, got %q, from %q", payload, got, token)
	}
	return nil
}

// requireNoGain returns an error if the design accepts an altered token against its claims. If
// it claims canonical, it must refuse any altered token, and otherwise one that opens to
// another payload.
func (s *instance) requireNoGain(token, altered, payload []byte) error {
	got, refused, err := s.open(altered)
	if err != nil || refused != nil {
		return err
	}
	return s.gain(token, altered, payload, got)
}

// gain returns the error for an altered token that opens to got, or nil if the design makes no
// claim against it.
func (s *instance) gain(token, altered, payload, got []byte) error {
	if s.holds(codecs.Canonical) {
		return harness.Fail(s.Name, "an altered token is accepted", "%q beside %q", altered, token)
	}
	if !s.same(payload, got) {
		return harness.Fail(s.Name, "an altered token opens to another payload", "%q, want %q, from %q made of %q", got, payload, altered, token)
	}
	return nil
}

// requireRepeated returns an error unless opening a token again gives the same answer.
func (s *instance) requireRepeated(token, first []byte, refused *codecs.RejectError) error {
	second, refusedAgain, err := s.open(token)
	if err != nil {
		return err
	}
	if !sameRefusal(refused, refusedAgain) || !bytes.Equal(first, second) {
		return harness.Fail(s.Name, "a token is answered in two ways", "%q", token)
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
