package targets

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

// The relations between a call and where its result goes.

// room: neither spare capacity in dst nor the lack of it makes a difference.
func (f *family) room(p *program.Program) error {
	what, err := f.present(p)
	if err != nil {
		return err
	}
	got, refused, err := f.one.open(what.token)
	if err != nil {
		return err
	}
	dst := dirty(p, len(got))
	before := bytes.Clone(dst)
	out, err := f.one.codec.Unseal(dst, what.token)
	if answer := codecs.Rejected(err); !sameRefusal(settled(refused), answer) || !bytes.Equal(out, append(before, got...)) {
		return fmt.Errorf("%s: %q is answered differently when dst has %d bytes and room for %d", f.one.Name, what.token, len(dst), cap(dst)-len(dst))
	}
	return nil
}

// settled returns the refusal that Unseal gives: unsupported is none.
func settled(r *codecs.RejectError) *codecs.RejectError {
	if r == unsupported {
		return nil
	}
	return r
}

// dirty reads a dst with something in it and with room that was used before: for
// about need bytes, for many, or for none.
func dirty(p *program.Program, need int) []byte {
	used := p.Pick(32)
	free := 0
	switch p.Pick(4) {
	case 0:
		free = beside(p, need)
	case 1:
		free = need + length(p, nil)
	case 2:
		free = length(p, nil)
	}
	return bytes.Repeat([]byte{0xa5}, used+free)[:used]
}

// sealing: where the token goes does not change it, sealing step by step
// without an edit is sealing, what is sealed without a seed opens, and a token
// has the length that the row states. The program says which.
func (f *family) sealing(p *program.Program) error {
	s := f.one
	seed, payload := s.seed(p), s.payload(p)
	given := bytes.Clone(payload)
	var err error
	switch p.Pick(4) {
	case 0:
		err = s.sealInto(p, seed, payload)
	case 1:
		err = s.sealStepwise(seed, payload)
	case 2:
		err = s.sealFresh(payload)
	default:
		err = s.sealSized(seed, payload)
	}
	if err == nil && !bytes.Equal(given, payload) {
		return fmt.Errorf("%s: sealing changed the payload %q to %q", s.Name, given, payload)
	}
	return err
}

func (s *subject) sealInto(p *program.Program, seed, payload []byte) error {
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	dst := dirty(p, len(token))
	before := bytes.Clone(dst)
	out, err := s.assembler.SealSeeded(dst, seed, payload)
	if err != nil || !bytes.Equal(out, append(before, token...)) {
		return fmt.Errorf("%s: %q is sealed differently when dst has %d bytes and room for %d: %q (%v)", s.Name, payload, len(dst), cap(dst)-len(dst), out, err)
	}
	return nil
}

func (s *subject) sealStepwise(seed, payload []byte) error {
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	edited, err := s.assembler.SealEdited(nil, seed, payload, func(_ lab.Step, value []byte) []byte { return value })
	if err != nil || !bytes.Equal(edited, token) {
		return fmt.Errorf("%s: %q is sealed as %q, and step by step as %q (%v)", s.Name, payload, token, edited, err)
	}
	return nil
}

func (s *subject) sealSized(seed, payload []byte) error {
	token, err := s.assembler.SealSeeded(nil, seed, payload)
	if err == nil && lab.HooksOf(s.Design).TokenSize != nil && lab.HooksOf(s.Design).TokenSize(len(payload)) != len(token) {
		return fmt.Errorf("%s: the token of %d bytes has %d characters, and its row says %d", s.Name, len(payload), len(token), lab.HooksOf(s.Design).TokenSize(len(payload)))
	}
	return err
}

// sealFresh: what is sealed without a seed opens, too.
func (s *subject) sealFresh(payload []byte) error {
	token, err := s.codec.Seal(nil, payload)
	if err != nil {
		return err
	}
	return s.requireSame(token, payload)
}

// inspected: a token is taken apart without a key, and without end.
func (f *family) inspected(p *program.Program) error {
	if lab.HooksOf(f.one.Design).Inspect == nil {
		return nil
	}
	what, err := f.present(p)
	if err != nil {
		return err
	}
	given := bytes.Clone(what.token)
	fields, err := lab.HooksOf(f.one.Design).Inspect(what.token)
	switch {
	case !bytes.Equal(given, what.token):
		return fmt.Errorf("%s: inspecting changed the token %q", f.one.Name, given)
	case !what.altered && (err != nil || len(fields) == 0):
		return fmt.Errorf("%s: its own token %q is not recognised: %v", f.one.Name, given, err)
	}
	return nil
}
