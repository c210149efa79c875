package targets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/internal/lab"
)

// An instance is a design opened once under fixed secrets.
type instance struct {
	codecs.Design
	in      *lab.Instance
	claimed map[codecs.Property]bool    // under the default options
	codec   *lab.Bound                  // in program.Context
	dear    bool                        // see isCostly
	sampled func() ([]heldToken, error) // the tokens for samplePayloads
}

// instances returns the designs under test, opened.
var instances = sync.OnceValue(func() []*instance {
	var all []*instance
	for _, d := range testedDesigns() {
		s := mustOpen(d, codecs.Config{Secrets: ringSecrets(d, 0)})
		s.dear = s.isCostly()
		s.sampled = sync.OnceValues(s.sealSamples)
		all = append(all, s)
	}
	return all
})

// isCostly reports whether sealing or opening takes long, because of a signature, a key
// encapsulation, or key stretching.
func (s *instance) isCostly() bool {
	return s.holds(codecs.SenderAuthenticated) || s.stepValue(lab.StepEnc) != nil || lab.HooksOf(s.Design).Stretched
}

// stepValue returns the value of a step of sealing a token, or nil if there is no such step.
func (s *instance) stepValue(wanted lab.Step) (found []byte) {
	//nolint:errcheck // a seal that fails has shown its steps
	s.codec.SealEdited(nil, make([]byte, s.codec.SeedSize()), []byte(`"state"`), func(step lab.Step, value []byte) []byte {
		if step == wanted {
			found = bytes.Clone(value)
		}
		return value
	})
	return found
}

// mustOpen opens a design with options and secrets that it must accept.
func mustOpen(d codecs.Design, c codecs.Config) *instance {
	s, err := openDesign(d, c)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", d.Name, err))
	}
	return s
}

// newInstance returns an instance that is not yet opened.
func newInstance(d codecs.Design) *instance {
	s := &instance{Design: d, claimed: map[codecs.Property]bool{}}
	for _, g := range d.GuaranteesFor(nil) {
		s.claimed[g.Property] = g.Holds
	}
	return s
}

func openDesign(d codecs.Design, c codecs.Config) (*instance, error) {
	s := newInstance(d)
	var err error
	if s.in, err = lab.Open(d, c); err != nil {
		return nil, err
	}
	if !s.in.Edited() {
		return nil, errors.New("want a design that seals step by step")
	}
	s.codec = s.in.At(&program.Context)
	return s, nil
}

// ringSecrets returns a ring of one secret that derives from number. The design accepts its
// length.
func ringSecrets(d codecs.Design, number int) [][]byte {
	secret := bytes.Repeat(fmt.Appendf(nil, "fuzz secret %d; ", number), 4)
	return [][]byte{secret[:max(d.KeySize, codecs.MinSecret)]}
}

// holds reports whether the design claims p.
func (s *instance) holds(p codecs.Property) bool { return s.claimed[p] }

// mustRefuse reports whether the design claims to refuse in context b a token minted in a. It
// also returns the first property that requires this.
func (s *instance) mustRefuse(a, b *codecs.Context) (first codecs.Property, must bool) {
	for at, differ := range program.Differs(a, b) {
		if differ && s.holds(program.Promises[at]) {
			return program.Promises[at], true
		}
	}
	return "", false
}

// payload reads a payload that the design can carry: any bytes for a codec, or a JSON string
// for a scheme.
func (s *instance) payload(p *program.Program) []byte {
	b := program.Payload(p, lab.HooksOf(s.Design).TokenSize)
	if !s.IsScheme() {
		return b
	}
	return quotedPayload(b)
}

// quotedPayload returns b as a JSON string. Bytes that would need an escape are replaced.
func quotedPayload(b []byte) []byte {
	text := make([]byte, len(b)+2)
	text[0], text[len(b)+1] = '"', '"'
	for i, c := range b {
		text[i+1] = unescapedBytes[c]
	}
	return text
}

// unescapedBytes maps each byte to one that needs no escape in JSON: itself if possible.
var unescapedBytes = func() (table [256]byte) {
	for i := range table {
		c := byte(i)
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			c = 'a' + c%26
		}
		table[i] = c
	}
	return table
}()

// seed reads the seed of one token.
func (s *instance) seed(p *program.Program) []byte {
	seed := make([]byte, s.codec.SeedSize())
	copy(seed, p.Bytes(len(seed)))
	return seed
}

// same reports whether the design treats two payloads as equal: the same bytes, or equal JSON
// values if the format carries values.
func (s *instance) same(want, got []byte) bool {
	return bytes.Equal(want, got) || s.IsScheme() && !s.holds(codecs.ByteExact) && sameJSON(want, got)
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

// A heldToken is a token, possibly altered, with its original form and its payload.
type heldToken struct {
	token, origin, payload []byte
	altered                bool
}

func (h *heldToken) change(token []byte) {
	h.token = token
	h.altered = !bytes.Equal(token, h.origin)
}

// Choices of hold. One in holdChoices seals a new token. The others take a sample token,
// because caches affect only opening.
const (
	holdNew     = 1
	holdChoices = 4
)

func (s *instance) hold(p *program.Program) (heldToken, error) {
	if p.Pick(holdChoices) == holdNew {
		return s.seal(s.seed(p), s.payload(p))
	}
	return s.sample(p.Pick(len(samplePayloads)))
}

func (s *instance) seal(seed, payload []byte) (heldToken, error) {
	token, err := s.codec.SealSeeded(nil, seed, payload)
	return heldToken{token: token, origin: token, payload: payload}, err
}

// samplePayloads are payloads that every design can carry.
var samplePayloads = []string{`"one"`, `"two"`, `""`, `"a longer one, of more than a block of any cipher or digest, and of more than one line"`}

// sample returns the sample token with the given index. Each is sealed once.
func (s *instance) sample(i int) (heldToken, error) {
	all, err := s.sampled()
	if err != nil {
		return heldToken{}, err
	}
	return all[i], nil
}

func (s *instance) sealSamples() ([]heldToken, error) {
	all := make([]heldToken, len(samplePayloads))
	for i, payload := range samplePayloads {
		var err error
		if all[i], err = s.seal(bytes.Repeat([]byte{byte(i)}, s.codec.SeedSize()), []byte(payload)); err != nil {
			return nil, harness.Fail(s.Name, "a sample cannot be sealed", "%v: %s", err, payload)
		}
	}
	return all, nil
}
