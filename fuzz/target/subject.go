package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/program"
)

// A subject is a design, set up once with fixed secrets.
type subject struct {
	codecs.Design
	codec     codecs.Codec // for a scheme: bound to one binding and time
	assembler codecs.Assembler
	scheme    codecs.Scheme          // nil for a codec
	dear      bool                   // a token takes an agreement of keys
	sampled   func() ([]held, error) // tokens of the samples
}

// subjects are all designs of the catalog that can seal step by step.
var subjects = sync.OnceValue(func() []*subject {
	var all []*subject
	for _, d := range catalog.All() {
		s := mustSubject(d, codecs.Config{Secrets: secrets(d, 0)})
		s.dear = s.encapsulates()
		s.sampled = sync.OnceValues(s.sealSamples)
		all = append(all, s)
	}
	return all
})

// encapsulates reports whether a token has a step that encapsulates a key.
func (s *subject) encapsulates() (has bool) {
	//nolint:errcheck // what cannot be sealed has shown its steps
	s.assembler.SealEdited(nil, make([]byte, s.assembler.SeedSize()), []byte(`"state"`), func(step codecs.Step, value []byte) []byte {
		has = has || step == codecs.StepEnc
		return value
	})
	return has
}

// mustSubject sets a design of the catalog up with what it is known to take.
func mustSubject(d codecs.Design, c codecs.Config) *subject {
	s, err := newSubject(d, c)
	if err != nil {
		panic(fmt.Sprintf("sealab: fuzz: %s: %v", d.Name, err))
	}
	return s
}

func newSubject(d codecs.Design, c codecs.Config) (*subject, error) {
	s := &subject{Design: d}
	var err error
	if d.IsScheme() {
		s.scheme, err = d.OpenScheme(c)
		s.codec = codecs.Bound{Scheme: s.scheme, Binding: &home.binding, Now: home.now}
	} else {
		s.codec, err = d.OpenCodec(c)
	}
	if err != nil {
		return nil, err
	}
	var ok bool
	if s.assembler, ok = codecs.AsAssembler(s.codec); !ok {
		return nil, errors.New("it cannot seal step by step")
	}
	return s, nil
}

// secrets returns the ring of one secret with the given number, of a length
// that the design takes.
func secrets(d codecs.Design, number int) [][]byte {
	secret := bytes.Repeat(fmt.Appendf(nil, "fuzz secret %d; ", number), 4)
	return [][]byte{secret[:max(d.KeySize, codecs.MinSecret)]}
}

// pick chooses a subject.
func pick(p *program.Program) *subject { return choose(p, subjects()) }

// costly is what may be dear.
type costly interface{ isDear() bool }

func (s *subject) isDear() bool { return s.dear }

// choose reads the choice of one of all, at most 128. What is dear is seldom taken
// where it is chosen: with an agreement of keys a token takes as long as a hundred
// others. Another one stands in for it, which the same choice decides.
func choose[T costly](p *program.Program, all []T) T {
	choice := int(p.Byte())
	chosen, round := choice%len(all), choice/len(all)
	if !all[chosen].isDear() || p.Seldom() {
		return all[chosen]
	}
	for i := range all {
		if other := all[(chosen+round+i)%len(all)]; !other.isDear() {
			return other
		}
	}
	return all[chosen]
}

// holds reports whether the design states p.
func (s *subject) holds(p codecs.Property) bool {
	g, ok := s.Guarantee(p)
	return ok && g.Holds
}

// payload reads a payload that the design can carry: any bytes for a codec, a
// JSON string for a scheme.
func (s *subject) payload(p *program.Program) []byte {
	b := matter(p, s.TokenSize)
	if !s.IsScheme() {
		return b
	}
	return quoted(b)
}

// quoted makes bytes a JSON string in which nothing needs an escape.
func quoted(b []byte) []byte {
	text := make([]byte, len(b)+2)
	text[0], text[len(b)+1] = '"', '"'
	for i, c := range b {
		text[i+1] = unescaped[c]
	}
	return text
}

// unescaped has for each byte one that needs no escape in JSON: itself if it can.
var unescaped = func() (table [256]byte) {
	for i := range table {
		c := byte(i)
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			c = 'a' + c%26
		}
		table[i] = c
	}
	return table
}()

// seed reads the randomness of one token.
func (s *subject) seed(p *program.Program) []byte {
	seed := make([]byte, s.assembler.SeedSize())
	copy(seed, p.Bytes(len(seed)))
	return seed
}

// same reports whether two payloads are the same to the design: the same bytes
// or, where the format carries values, the same JSON.
func (s *subject) same(want, got []byte) bool {
	if bytes.Equal(want, got) {
		return true
	}
	return s.IsScheme() && !s.holds(codecs.ByteExact) && sameJSON(want, got)
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, errP := json.Marshal(x)
	q, errQ := json.Marshal(y)
	return errP == nil && errQ == nil && bytes.Equal(p, q)
}

// unsupported stands in the place of a refusal for the third outcome: a token
// that is sound, with a state that the design cannot hand over.
var unsupported = codecs.Reject(0, "not supported")

// open unseals a token: see answer.
func (s *subject) open(token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	return s.answer(s.codec, token)
}

// answer unseals a token with a codec of the design and checks that the answer is
// one of the three that there may be, and that dst is as the contract has it.
// refused is nil where the token was accepted.
func (s *subject) answer(codec codecs.Codec, token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	const before = "kept"
	memory := make([]byte, len(token)+len(before)+len(token)*3/4) // no payload is longer than what its token says in base64
	given, dst := memory[:len(token):len(token)], memory[len(token):]
	copy(given, token)
	out, err := codec.Unseal(dst[:copy(dst, before)], token)
	if !bytes.Equal(given, token) {
		return nil, nil, fmt.Errorf("%s: opening changed the token %q", s.Name, given)
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
