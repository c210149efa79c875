package cases

import (
	"slices"

	"sealab/internal/lab"
)

// solvedBytes is the length in bytes of the solved part of a payload.
const solvedBytes = 16

// twoKeyCases makes one ciphertext that is authentic under two keys and reads it with the key ID of each.
//
// The tag of a polynomial over a field of characteristic two is an affine
// function of the ciphertext bits. So is the difference of the tags under two
// keys. If the difference is zero, the ciphertext opens under both keys.
// twoKeyCases finds the function by querying the design, one bit at a time, and
// needs no knowledge of the cipher. If the tags of a design are not affine,
// there is no solution and no case. See Dodis, Grubbs, Ristenpart and Woodage,
// CRYPTO 2018, and Len, Grubbs and Ristenpart, USENIX Security 2021.
func twoKeyCases(s *Scene) []Case {
	first, ok := newSealer(s, "k1")
	if !ok {
		return nil
	}
	second, ok := newSealer(s, "k2")
	if !ok {
		return nil
	}
	body, ok := solveEqualTag(first, second)
	if !ok {
		return nil
	}
	return []Case{
		first.caseOf(body, "first"),
		second.caseOf(body, "second"),
	}
}

// chosenSealer seals chosen ciphertexts of one length under one key.
type chosenSealer struct {
	scene   *Scene
	setting Setting
	what    lab.Step // the step that is encrypted
	stream  []byte   // the key stream that encryption adds to the plaintext
}

// newSealer returns a sealer under one key of a ring. It reports false if the
// body on the wire is not the plaintext plus a key stream, with a tag.
func newSealer(s *Scene, key string) (*chosenSealer, bool) {
	k := &chosenSealer{scene: s, setting: s.Base.Setting, what: lab.StepPayload}
	k.setting.Keys = []string{key}
	if s.Design.IsScheme() {
		k.what = lab.StepClaims
	}
	length := len(s.Base.Payload) + 2*solvedBytes
	zeros := make([]byte, length)
	stream, _, ok := k.seal(zeros)
	if !ok || len(stream) != length {
		return nil, false
	}
	k.stream = stream
	wanted := NewStream("sealab-vectors/1 two keys").Bytes(length)
	body, _, ok := k.seal(xorBytes(wanted, stream))
	return k, ok && string(body) == string(wanted)
}

// seal returns the body and tag of a plaintext.
func (k *chosenSealer) seal(plaintext []byte) (body, tag []byte, ok bool) {
	_, trace, err := k.scene.Make(k.setting, k.scene.Seed, k.scene.Base.Payload, onlyStep(At{Step: k.what}, setTo(plaintext)))
	if err != nil {
		return nil, nil, false
	}
	body, hasBody := trace.Find(At{Step: lab.WireBody})
	tag, hasTag := trace.Find(At{Step: lab.WireTag})
	return body, tag, hasBody && hasTag && len(tag) == solvedBytes
}

// tag returns the tag of a ciphertext.
func (k *chosenSealer) tag(body []byte) []byte {
	_, tag, _ := k.seal(xorBytes(body, k.stream))
	return tag
}

// caseOf reads the token of body with this key's ID. This key is the first of the ring.
func (k *chosenSealer) caseOf(body []byte, which string) Case {
	ring := []string{k.setting.Keys[0]}
	for _, name := range k.scene.Base.Keys {
		if name != ring[0] && k.scene.Design.MaxKeys != 1 {
			ring = append(ring, name)
		}
	}
	return Case{
		Name: "two-keys-" + which, Doc: "one nonce, ciphertext and tag that are right under two keys, read under the " + which,
		Flags: []string{flagTwoKeys}, Under: ring,
		Edit: onlyStep(At{Step: k.what}, setTo(xorBytes(body, k.stream))),
		Read: func(set *Setting) { set.Keys = ring },
	}
}

// solveEqualTag returns a ciphertext with the same tag under both keys.
func solveEqualTag(a, b *chosenSealer) ([]byte, bool) {
	body := NewStream("sealab-vectors/1 two keys").Bytes(len(a.stream))
	difference := func(body []byte) []byte { return xorBytes(a.tag(body), b.tag(body)) }
	constant := difference(body)
	columns := make([][]byte, 8*solvedBytes)
	for i := range columns {
		flipped := Flip(i/8, 1<<(i%8))(append([]byte(nil), body...))
		columns[i] = xorBytes(difference(flipped), constant)
	}
	flips, ok := solveGF2(columns, constant)
	if !ok {
		return nil, false
	}
	for _, i := range flips {
		body = Flip(i/8, 1<<(i%8))(body)
	}
	return body, string(a.tag(body)) == string(b.tag(body))
}

func xorBytes(a, b []byte) []byte {
	out := append([]byte(nil), a...)
	for i := range out {
		out[i] ^= b[i]
	}
	return out
}

// solveGF2 returns the columns whose sum over GF(2) is target. It reports false if
// target is not such a sum.
func solveGF2(columns [][]byte, target []byte) (chosen []int, ok bool) {
	type row struct {
		value []byte
		from  []bool // columns that sum to value
		pivot int
	}
	var basis []row
	reduce := func(r row) row {
		for _, b := range basis {
			if bitSet(r.value, b.pivot) {
				r.value = xorBytes(r.value, b.value)
				for i, in := range b.from {
					r.from[i] = r.from[i] != in
				}
			}
		}
		return r
	}
	for i, c := range columns {
		r := row{value: slices.Clone(c), from: make([]bool, len(columns))}
		r.from[i] = true
		r = reduce(r)
		if r.pivot = firstBit(r.value); r.pivot >= 0 {
			basis = append(basis, r)
		}
	}
	r := reduce(row{value: slices.Clone(target), from: make([]bool, len(columns))})
	if firstBit(r.value) >= 0 {
		return nil, false
	}
	for i, in := range r.from {
		if in {
			chosen = append(chosen, i)
		}
	}
	return chosen, true
}

func bitSet(b []byte, i int) bool { return b[i/8]>>(i%8)&1 == 1 }

// firstBit returns the index of the first set bit, or -1 if all are clear.
func firstBit(b []byte) int {
	for i := range 8 * len(b) {
		if bitSet(b, i) {
			return i
		}
	}
	return -1
}
