package targets

import (
	"bytes"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

// The relations between a call and the place of its result.

// room checks that the spare capacity of dst does not affect the answer.
func (f *ringFamily) room(h heldToken, p *program.Program) error {
	got, refused, err := f.one.open(h.token)
	if err != nil {
		return err
	}
	dst := readDst(p, len(got))
	before := bytes.Clone(dst)
	out, err := f.one.codec.Unseal(dst, h.token)
	if answer := codecs.Rejected(err); !sameRefusal(unsealRefusal(refused), answer) || !bytes.Equal(out, append(before, got...)) {
		return harness.Fail(f.one.Name, "the answer depends on the room in dst", "%d bytes and room for %d: %q", len(dst), cap(dst)-len(dst), h.token)
	}
	return nil
}

// unsealRefusal returns the refusal that Unseal reports. Unsupported is not a refusal.
func unsealRefusal(r *codecs.RejectError) *codecs.RejectError {
	if r == errUnsupported {
		return nil
	}
	return r
}

// readDst reads a dst with contents and dirty spare capacity: about need bytes, many, or none.
func readDst(p *program.Program, need int) []byte {
	used := p.Pick(32)
	free := 0
	switch p.Pick(4) {
	case 0:
		free = program.Beside(p, need)
	case 1:
		free = need + program.Length(p, nil)
	case 2:
		free = program.Length(p, nil)
	}
	return bytes.Repeat([]byte{0xa5}, used+free)[:used]
}

// sealing makes one check, which the program chooses: dst does not affect the token, sealing
// with unedited steps gives the same token, a token sealed without a seed opens, or a token has
// the length that its row states.
func (f *ringFamily) sealing(p *program.Program) error {
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
		return harness.Fail(s.Name, "sealing changes the payload", "%q to %q", given, payload)
	}
	return err
}

func (s *instance) sealInto(p *program.Program, seed, payload []byte) error {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	dst := readDst(p, len(token))
	before := bytes.Clone(dst)
	if out, err := s.codec.SealSeeded(dst, seed, payload); err != nil || !bytes.Equal(out, append(before, token...)) {
		return harness.Fail(s.Name, "the token depends on the room in dst", "%d bytes and room for %d: %q for %q (%v)", len(dst), cap(dst)-len(dst), out, payload, err)
	}
	return nil
}

func (s *instance) sealStepwise(seed, payload []byte) error {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err != nil {
		return err
	}
	edited, err := s.codec.SealEdited(nil, seed, payload, func(_ lab.Step, value []byte) []byte { return value })
	if err != nil || !bytes.Equal(edited, token) {
		return harness.Fail(s.Name, "sealing step by step gives another token", "%q and %q (%v) for %q", token, edited, err, payload)
	}
	return nil
}

func (s *instance) sealSized(seed, payload []byte) error {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	if err == nil && lab.HooksOf(s.Design).TokenSize != nil && lab.HooksOf(s.Design).TokenSize(len(payload)) != len(token) {
		return harness.Fail(s.Name, "a token has another length than its row states", "%d, want %d, for %d bytes", len(token), lab.HooksOf(s.Design).TokenSize(len(payload)), len(payload))
	}
	return err
}

// sealFresh checks that a token sealed without a seed opens.
func (s *instance) sealFresh(payload []byte) error {
	token, err := s.codec.Seal(nil, payload)
	if err != nil {
		return err
	}
	return s.requireSame(token, payload)
}

// inspected checks that a token can be parsed without a key.
func (f *ringFamily) inspected(h heldToken, _ *program.Program) error {
	inspect := lab.HooksOf(f.one.Design).Inspect
	if inspect == nil {
		return nil
	}
	given := bytes.Clone(h.token)
	fields, err := inspect(h.token)
	switch {
	case !bytes.Equal(given, h.token):
		return harness.Fail(f.one.Name, "inspecting changes the token", "%q", given)
	case !h.altered && (err != nil || len(fields) == 0):
		return harness.Fail(f.one.Name, "inspecting fails for an own token", "%v: %q", err, given)
	}
	return nil
}
