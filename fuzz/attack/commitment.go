package attack

import (
	"bytes"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// bits of the ciphertext are solved for; 128 equations need a few more unknowns.
const committed = 48 // length of the payload in bytes

// A sealed is what one party makes of a plaintext under a fixed seed.
type sealed struct{ id, body, tag, token []byte }

// sealing seals chosen plaintexts under one key and one seed.
type sealing struct {
	party  *Party
	seed   []byte
	stream []byte // what encryption adds to the plaintext
}

// twoKeys makes one token that opens under two keys. The tag of a polynomial over
// a field of characteristic two is an affine function of the ciphertext's bits,
// and so is the difference of the tags under two keys: where it is zero the
// ciphertext opens under both. The function is found by asking the subject
// itself, one bit at a time. The two secrets are searched for by their key ids,
// which have to be the same.
func twoKeys(t *Trial) {
	if t.Subject.IsScheme() {
		t.skip("what opens under a second key is not claims, so that the codec below is attacked and not the scheme")
		return
	}
	seed, a, ok := t.sealing(t.secret(0), nil)
	if !ok {
		t.skip("the subject cannot be sealed step by step, or its body is no stream with a tag of 16 bytes")
		return
	}
	t.try(codecs.KeyCommitting)
	_, b, ok := t.sealing(t.secret(1), seed)
	if _, solved := meet(a, b); !ok || !solved {
		return
	}
	if a, b, ok = t.sameID(seed); !ok {
		t.skip("no two secrets with one key id were found")
		return
	}
	body, ok := meet(a, b)
	if !ok {
		return
	}
	made := a.seal(xor(body, a.stream))
	first, okA := a.party.accepts(made.token, verdict.Context{})
	second, okB := b.party.accepts(made.token, verdict.Context{})
	if okA && okB {
		t.refute(codecs.KeyCommitting, "one token opens under two keys, with two states", first, second)
	}
}

// sealing opens the subject under a secret, if it can seal chosen bodies there.
func (t *Trial) sealing(secret, seed []byte) ([]byte, *sealing, bool) {
	p, err := t.party(secret)
	if err != nil {
		return nil, nil, false
	}
	if seed == nil {
		seed = t.bytes(p.seedSize())
	}
	s := &sealing{party: p, seed: seed}
	s.stream = s.seal(make([]byte, committed)).body
	probe := bytes.Repeat([]byte{0xa5}, committed)
	made := s.seal(probe)
	return seed, s, len(seed) > 0 && len(made.tag) == 16 && bytes.Equal(made.body, xor(probe, s.stream)) && len(s.stream) == committed
}

// seal seals plaintext and keeps what is made on the way.
func (s *sealing) seal(plaintext []byte) (made sealed) {
	if s.party.isScheme() {
		return sealed{}
	}
	token, err := s.party.instance.SealEdited(nil, s.seed, plaintext, nil, func(step lab.Step, value []byte) []byte {
		switch step {
		case lab.StepKeyID:
			made.id = bytes.Clone(value)
		case lab.WireBody:
			made.body = bytes.Clone(value)
		case lab.WireTag:
			made.tag = bytes.Clone(value)
		}
		return value
	})
	if err != nil {
		return sealed{}
	}
	made.token = token
	return made
}

// sameID finds two secrets with one key id, by their birthdays.
func (t *Trial) sameID(seed []byte) (a, b *sealing, ok bool) {
	seen := map[string]int{}
	for n := 1000; n < 1000+4*t.Budget.Seals; n++ {
		if t.spent() {
			return nil, nil, false
		}
		p, err := t.party(t.secret(n))
		if err != nil {
			return nil, nil, false
		}
		id := string((&sealing{party: p, seed: seed}).seal(nil).id)
		if m, found := seen[id]; found {
			_, a, okA := t.sealing(t.secret(m), seed)
			_, b, okB := t.sealing(t.secret(n), seed)
			return a, b, okA && okB
		}
		seen[id] = n
	}
	return nil, nil, false
}

// meet returns a ciphertext that has one tag under both keys.
func meet(a, b *sealing) ([]byte, bool) {
	if a == nil || b == nil {
		return nil, false
	}
	body := make([]byte, committed)
	difference := func(body []byte) []byte {
		return xor(a.seal(xor(body, a.stream)).tag, b.seal(xor(body, b.stream)).tag)
	}
	constant := difference(body)
	columns := make([][]byte, 8*committed)
	for i := range columns {
		flipped := bytes.Clone(body)
		flipped[i/8] ^= 1 << (i % 8)
		columns[i] = xor(difference(flipped), constant)
	}
	for _, i := range solve(columns, constant) {
		body[i/8] ^= 1 << (i % 8)
	}
	return body, bytes.Equal(difference(body), make([]byte, len(constant)))
}

// solve returns which columns, added up over GF(2), give target; what is returned
// is wrong where none do.
func solve(columns [][]byte, target []byte) []int {
	type row struct{ value, from []byte }
	var basis []row
	reduce := func(r row) row {
		for _, b := range basis {
			if i := leading(b.value); r.value[i/8]&(1<<(i%8)) != 0 {
				r.value, r.from = xor(r.value, b.value), xor(r.from, b.from)
			}
		}
		return r
	}
	for i, c := range columns {
		from := make([]byte, len(columns)/8+1)
		from[i/8] |= 1 << (i % 8)
		if r := reduce(row{bytes.Clone(c), from}); leading(r.value) >= 0 {
			basis = append(basis, r)
		}
	}
	r := reduce(row{bytes.Clone(target), make([]byte, len(columns)/8+1)})
	var chosen []int
	for i := range columns {
		if r.from[i/8]&(1<<(i%8)) != 0 {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// leading is the place of the first bit that is set, or -1.
func leading(b []byte) int {
	for i := range 8 * len(b) {
		if b[i/8]&(1<<(i%8)) != 0 {
			return i
		}
	}
	return -1
}
