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
	scheme    codecs.Scheme // nil for a codec
	dear      bool          // a token takes an agreement of keys
}

// subjects are all designs of the catalog that can seal step by step.
var subjects = sync.OnceValue(func() []subject {
	var all []subject
	for _, d := range catalog.All() {
		s := mustSubject(d, codecs.Config{Secrets: secrets(d, 0)})
		s.dear = s.encapsulates()
		all = append(all, s)
	}
	return all
})

// encapsulates reports whether a token has a step that encapsulates a key.
func (s subject) encapsulates() (has bool) {
	//nolint:errcheck // what cannot be sealed has shown its steps
	s.assembler.SealEdited(nil, make([]byte, s.assembler.SeedSize()), []byte(`"state"`), func(step codecs.Step, value []byte) []byte {
		has = has || step == codecs.StepEnc
		return value
	})
	return has
}

// mustSubject sets a design of the catalog up with what it is known to take.
func mustSubject(d codecs.Design, c codecs.Config) subject {
	s, err := newSubject(d, c)
	if err != nil {
		panic(fmt.Sprintf("sealab: fuzz: %s: %v", d.Name, err))
	}
	return s
}

func newSubject(d codecs.Design, c codecs.Config) (subject, error) {
	s := subject{Design: d}
	if !d.IsScheme() {
		codec, err := d.OpenCodec(c)
		if err != nil {
			return s, err
		}
		return s.over(codec)
	}
	var err error
	if s.scheme, err = d.OpenScheme(c); err != nil {
		return s, err
	}
	return s.over(codecs.Bound{Scheme: s.scheme, Binding: &home.binding, Now: home.now})
}

// over returns s with another codec.
func (s subject) over(codec codecs.Codec) (subject, error) {
	var ok bool
	s.codec = codec
	if s.assembler, ok = codecs.AsAssembler(codec); !ok {
		return s, errors.New("it cannot seal step by step")
	}
	return s, nil
}

// in returns s in another situation. A codec knows none.
func (s subject) in(where *situation) subject {
	if s.scheme == nil {
		return s
	}
	s.codec = codecs.Bound{Scheme: s.scheme, Binding: &where.binding, Now: where.now}
	s.assembler, _ = codecs.AsAssembler(s.codec)
	return s
}

// secrets returns the ring of one secret with the given number, of a length
// that the design takes.
func secrets(d codecs.Design, number int) [][]byte {
	secret := bytes.Repeat(fmt.Appendf(nil, "fuzz secret %d; ", number), 4)
	return [][]byte{secret[:max(d.KeySize, codecs.MinSecret)]}
}

// pick chooses a subject.
func pick(p *program.Program) subject {
	all := subjects()
	return all[choose(p, len(all), func(i int) bool { return all[i].dear })]
}

// rare is how seldom a dear design is taken where it is chosen: with an agreement
// of keys a token takes as long as a hundred others.
const rare = 32

// choose reads the choice of one of n, at most 128. What is dear is taken for one
// digest of the input in rare, and others stand in for it else.
func choose(p *program.Program, n int, dear func(i int) bool) int {
	at := int(p.Byte()) % n
	if !dear(at) {
		return at
	}
	digest := p.Digest()
	if digest%rare == 0 {
		return at
	}
	for i := range n {
		if other := (int(digest%rare) + i) % n; !dear(other) {
			return other
		}
	}
	return at
}

// holds reports whether the design states p.
func (s subject) holds(p codecs.Property) bool {
	g, ok := s.Guarantee(p)
	return ok && g.Holds
}

// payload reads a payload that the design can carry: any bytes for a codec, a
// JSON string for a scheme.
func (s subject) payload(p *program.Program) []byte {
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
func (s subject) seed(p *program.Program) []byte {
	seed := make([]byte, s.assembler.SeedSize())
	copy(seed, p.Bytes(len(seed)))
	return seed
}

// same reports whether two payloads are the same to the design: the same bytes
// or, where the format carries values, the same JSON.
func (s subject) same(want, got []byte) bool {
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

// open unseals a token and checks that the answer is one of the three that there
// may be, and that dst is as the contract has it. refused is nil where the
// token was accepted.
func (s subject) open(token []byte) (payload []byte, refused *codecs.RejectError, err error) {
	const before = "kept"
	memory := make([]byte, 2*len(token)+len(before))
	given, dst := memory[:len(token):len(token)], memory[len(token):]
	copy(given, token)
	out, err := s.codec.Unseal(dst[:copy(dst, before)], token)
	if refused = codecs.Rejected(err); errors.Is(err, codecs.ErrUnsupported) {
		refused, err = unsupported, unsupported
	}
	switch {
	case !bytes.Equal(given, token):
		return nil, nil, fmt.Errorf("%s: opening changed the token %q", s.Name, given)
	case err != nil && refused == nil:
		return nil, nil, fmt.Errorf("%s: opening %q failed without a refusal: %w", s.Name, token, err)
	case refused != nil && string(out) != before:
		return nil, nil, fmt.Errorf("%s: refusing %q changed dst to %q", s.Name, token, out)
	case refused != nil && err.Error() != refused.Error():
		return nil, nil, fmt.Errorf("%s: a refusal says %q", s.Name, err)
	case refused == nil && !bytes.HasPrefix(out, []byte(before)):
		return nil, nil, fmt.Errorf("%s: opening %q overwrote dst", s.Name, token)
	case refused != nil:
		return nil, refused, nil
	}
	return out[len(before):], nil, nil
}

// requireSame returns an error unless token opens to payload.
func (s subject) requireSame(token, payload []byte) error {
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
func (s subject) requireNoGain(token, altered, payload []byte) error {
	got, refused, err := s.open(altered)
	if err != nil || refused != nil {
		return err
	}
	if s.holds(codecs.Canonical) {
		return fmt.Errorf("%s: %q is accepted beside %q", s.Name, altered, token)
	}
	if !s.same(payload, got) {
		return fmt.Errorf("%s: %q, made of %q, opens to %q and not to %q", s.Name, altered, token, got, payload)
	}
	return nil
}
