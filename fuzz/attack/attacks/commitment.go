package attacks

import (
	"bytes"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/lab"
)

// solvedBytes is the length in bytes of the payload for which a ciphertext is solved. A tag of up
// to 48 bytes gives one equation per bit. A few more unknown bits are needed.
const solvedBytes = 64

// twoKeys makes one token that opens under two keys. The tag of GCM is an affine function of
// the bits of the ciphertext, and so is the difference between the tags under two keys. A
// ciphertext with difference zero opens under both. If the design does not offer sealing with
// edited steps but its construction is recognized, the token is built without it.
func (t trial) twoKeys() {
	if t.Design.IsScheme() {
		t.Skip("the plaintext under a second key is not valid claims: attack the codec below")
		return
	}
	seed, a, ok := t.sealing(t.Secret(0), nil)
	switch {
	case ok:
	case lab.HooksOf(t.Design.Design).SIVKey != nil:
		t.twoKeysSIV()
		return
	default:
		t.twoKeysOutside()
		return
	}
	t.Try(codecs.KeyCommitting)
	_, b, ok := t.sealing(t.Secret(1), seed)
	if _, solved := solveEqualTag(a, b); !ok || !solved {
		return
	}
	first, second, ok := t.sameID(seed)
	if !ok {
		return
	}
	_, a, okA := t.sealing(first, seed)
	_, b, okB := t.sealing(second, seed)
	if !okA || !okB {
		return
	}
	body, ok := solveEqualTag(a, b)
	if !ok {
		return
	}
	t.opensTwice(a.in, b.in, a.seal(tokenfmt.Xor(body, a.stream)).token)
}

// twoKeysSIV is twoKeys for AES-GCM-SIV, whose key stream depends on the tag. The ciphertext is
// solved for a chosen tag.
func (t trial) twoKeysSIV() {
	key := lab.HooksOf(t.Design.Design).SIVKey
	in, err := t.Open(t.Secret(0))
	if err != nil {
		t.Skip("the design does not open under a random secret of 32 bytes")
		return
	}
	t.Try(codecs.KeyCommitting)
	nonce := t.Bytes(in.SeedSize())
	first, second, ok := t.sameID(nonce)
	if !ok {
		return
	}
	a, b, ok := t.pair(first, second)
	if !ok {
		return
	}
	var body, tag []byte
	token, err := a.Edited(nonce, nil, codecs.Context{}, func(step lab.Step, value []byte) []byte {
		switch step {
		case lab.StepAAD:
			body, tag, ok = tokenfmt.MeetSIV(key(first), key(second), nonce, value, t.Rand)
		case lab.WireBody:
			return body
		case lab.WireTag:
			return tag
		}
		return value
	})
	if err == nil && ok {
		t.opensTwice(a, b, token)
	}
}

// opensTwice presents a token under two keys.
func (t trial) opensTwice(a, b *attack.Instance, token []byte) {
	first, okA := a.Accepts(token, attack.Ordinary())
	second, okB := b.Accepts(token, attack.Ordinary())
	if okA && okB {
		t.Refute(codecs.KeyCommitting, "one token opens under two keys, with two states", first, second)
	}
}

// twoKeysOutside builds the token from a recognized construction. If tokens hold a key ID, a
// second key with the same ID is searched first.
func (t trial) twoKeysOutside() {
	in, tok, ok := t.Base()
	if !ok {
		return
	}
	c, ok := tok.Format().Recognize(in.Keys[0])
	if !ok {
		t.Skip("the design does not seal step by step, and its construction was not recognized")
		return
	}
	if _, ok := c.TwoKeys(t.Secret(1), t.Rand); !ok {
		t.Skip("the construction, %s, is not one for which a token under two keys is known", c.Name)
		return
	}
	head, constant := t.constantHead(in)
	for n := range 300 {
		second := t.Secret(1 + n)
		other, err := t.Open(second)
		if err != nil {
			return
		}
		if theirs, ok := t.constantHead(other); ok != constant || theirs != head {
			continue // the token names its key, and theirs has another name
		}
		t.Try(codecs.KeyCommitting)
		if token, ok := c.TwoKeys(second, t.Rand); ok {
			t.opensTwice(in, other, token)
		}
		if t.Fell(codecs.KeyCommitting) || n >= 3 {
			return
		}
	}
	t.Skip("tokens name their key, and no second key with that name was found")
}

// A seededSealer seals chosen plaintexts under one key and one seed.
type seededSealer struct {
	in     *attack.Instance
	seed   []byte
	stream []byte // the key stream that encryption XORs with the plaintext
}

// sealedParts is the result of sealing one plaintext.
type sealedParts struct{ id, body, tag, token []byte }

// sealing opens the design under a secret. It reports whether the design seals chosen bodies
// with a key stream and a tag of 16 to 48 bytes.
func (t trial) sealing(secret, seed []byte) ([]byte, *seededSealer, bool) {
	in, err := t.Open(secret)
	if err != nil {
		return nil, nil, false
	}
	if seed == nil {
		seed = t.Bytes(in.SeedSize())
	}
	s := &seededSealer{in: in, seed: seed}
	s.stream = s.seal(make([]byte, solvedBytes)).body
	probe := bytes.Repeat([]byte{0xa5}, solvedBytes)
	m := s.seal(probe)
	return seed, s, len(seed) > 0 && len(m.tag) >= 16 && len(m.tag) <= 48 && bytes.Equal(m.body, tokenfmt.Xor(probe, s.stream)) && len(s.stream) == solvedBytes
}

// seal seals plaintext and returns the intermediate values too.
func (s *seededSealer) seal(plaintext []byte) (m sealedParts) {
	if !s.in.CanEdit() {
		return sealedParts{}
	}
	token, err := s.in.Edited(slices.Clone(s.seed), plaintext, codecs.Context{}, func(step lab.Step, value []byte) []byte {
		switch step {
		case lab.StepKeyID:
			m.id = bytes.Clone(value)
		case lab.WireBody:
			m.body = bytes.Clone(value)
		case lab.WireTag:
			m.tag = bytes.Clone(value)
		}
		return value
	})
	if err != nil {
		return sealedParts{}
	}
	m.token = token
	return m
}

// sameID searches for two secrets with the same key ID. If there are none, it records the
// reason.
func (t trial) sameID(seed []byte) (a, b []byte, ok bool) {
	seen := map[string]int{}
	for n := 1000; n < 1000+4*t.Budget.Seals; n++ {
		in, err := t.Open(t.Secret(n))
		if err != nil || t.Spent() {
			break
		}
		id := string((&seededSealer{in: in, seed: seed}).seal(nil).id)
		if m, found := seen[id]; found {
			return t.Secret(m), t.Secret(n), true
		}
		seen[id] = n
	}
	t.Skip("no two secrets with one key ID were found")
	return nil, nil, false
}

// solveEqualTag returns a ciphertext that has the same tag under both keys.
func solveEqualTag(a, b *seededSealer) ([]byte, bool) {
	if a == nil || b == nil {
		return nil, false
	}
	return tokenfmt.MeetAffine(solvedBytes,
		func(body []byte) []byte { return a.seal(tokenfmt.Xor(body, a.stream)).tag },
		func(body []byte) []byte { return b.seal(tokenfmt.Xor(body, b.stream)).tag })
}
