package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

// A subject is a design, set up once with fixed secrets.
type subject struct {
	codecs.Design
	codec     *lab.Bound // in the situation home
	assembler *lab.Bound // the same
	scheme    *lab.Instance
	dear      bool                   // a token takes an agreement of keys
	sampled   func() ([]held, error) // tokens of the samples
}

// subjects are all designs of the catalog that can seal step by step.
var subjects = sync.OnceValue(func() []*subject {
	var all []*subject
	for _, d := range designs() {
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
	s.assembler.SealEdited(nil, make([]byte, s.assembler.SeedSize()), []byte(`"state"`), func(step lab.Step, value []byte) []byte {
		has = has || step == lab.StepEnc
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
	if s.scheme, err = lab.Open(d, c); err != nil {
		return nil, err
	}
	if !s.scheme.Edited() {
		return nil, errors.New("it cannot seal step by step")
	}
	s.codec = s.scheme.At(&home.Context)
	s.assembler = s.codec
	return s, nil
}

// secrets returns the ring of one secret with the given number, of a length
// that the design takes.
func secrets(d codecs.Design, number int) [][]byte {
	secret := bytes.Repeat(fmt.Appendf(nil, "fuzz secret %d; ", number), 4)
	return [][]byte{secret[:max(d.KeySize, codecs.MinSecret)]}
}

// holds reports whether the design states p.
func (s *subject) holds(p codecs.Property) bool {
	g, ok := s.Guarantee(p, nil)
	return ok && g.Holds
}

// payload reads a payload that the design can carry: any bytes for a codec, a
// JSON string for a scheme.
func (s *subject) payload(p *program.Program) []byte {
	b := matter(p, lab.HooksOf(s.Design).TokenSize)
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
