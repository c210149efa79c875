package tokenfmt

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"slices"

	"golang.org/x/crypto/chacha20"
)

// collisionSize is the length in bytes of a body that opens under two keys. A tag gives 128
// equations, which need a few more unknown bits.
const collisionSize = 48

// TwoKeys returns a token that opens under the secret of the construction and under another
// secret. It reports false if the construction is not one of the known AEADs.
//
// Source: Dodis, Grubbs, Ristenpart, Woodage, "Fast Message Franking" (CRYPTO 2018); Len,
// Grubbs, Ristenpart, "Partitioning Oracle Attacks" (USENIX Security 2021).
func (c Construction) TwoKeys(other []byte, draw *rand.Rand) ([]byte, bool) {
	s := c.aead
	if s == nil {
		return nil, false
	}
	kind := knownCiphers[s.cipher]
	otherKey := keyForms(other)[s.form]
	a, errA := kind.new(s.key)
	b, errB := kind.new(otherKey)
	if errA != nil || errB != nil {
		return nil, false
	}
	var body, tag []byte
	var ok bool
	if kind.name == "AES-GCM" {
		tagA, tagB := s.tagOf(a), s.tagOf(b)
		if body, ok = MeetAffine(collisionSize, tagA, tagB); ok {
			tag = tagA(body)
		}
	} else {
		body, tag, ok = meetPoly1305(oneTime(s.key, s.nonce), oneTime(otherKey, s.nonce), s.additional, draw)
	}
	if !ok {
		return nil, false
	}
	return s.format.With(s.segment, slices.Concat(s.head, s.nonce, body, tag)), true
}

// tagOf returns a function from a ciphertext to its tag.
func (s *sealedSegment) tagOf(a cipher.AEAD) func(body []byte) []byte {
	stream := a.Seal(nil, s.nonce, make([]byte, collisionSize), s.additional)[:collisionSize]
	return func(body []byte) []byte {
		return a.Seal(nil, s.nonce, Xor(body, stream), s.additional)[collisionSize:]
	}
}

// MeetAffine returns n bytes that have the same tag under two keys. The functions return the
// tags. Both must be affine over GF(2), as in GCM. MeetAffine reports false if there is no
// solution.
func MeetAffine(n int, tagA, tagB func(body []byte) []byte) ([]byte, bool) {
	body := make([]byte, n)
	difference := func(body []byte) []byte { return Xor(tagA(body), tagB(body)) }
	constant := difference(body)
	columns := make([][]byte, 8*n)
	for i := range columns {
		flipped := bytes.Clone(body)
		flipped[i/8] ^= 1 << (i % 8)
		columns[i] = Xor(difference(flipped), constant)
	}
	for _, i := range solveBits(columns, constant) {
		body[i/8] ^= 1 << (i % 8)
	}
	return body, len(constant) > 0 && bytes.Equal(difference(body), make([]byte, len(constant)))
}

// solveBits returns the indices of columns whose sum over GF(2) is target. If there is no
// solution, the result is meaningless.
func solveBits(columns [][]byte, target []byte) []int {
	type row struct{ value, from *big.Int }
	var basis []row
	reduce := func(r row) row {
		for _, b := range basis {
			if r.value.Bit(int(b.value.TrailingZeroBits())) == 1 {
				r = row{new(big.Int).Xor(r.value, b.value), new(big.Int).Xor(r.from, b.from)}
			}
		}
		return r
	}
	for i, c := range columns {
		from := new(big.Int).SetBit(new(big.Int), i, 1)
		if r := reduce(row{new(big.Int).SetBytes(c), from}); r.value.Sign() != 0 {
			basis = append(basis, r)
		}
	}
	r := reduce(row{new(big.Int).SetBytes(target), new(big.Int)})
	var chosen []int
	for i := range columns {
		if r.from.Bit(i) == 1 {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// A polyKey is the one-time key of Poly1305 (RFC 8439, section 2.5).
type polyKey struct{ r, s *big.Int }

// oneTime returns the Poly1305 key for a nonce of 12 or 24 bytes.
func oneTime(key, nonce []byte) polyKey {
	block := make([]byte, 32)
	c, err := chacha20.NewUnauthenticatedCipher(key, nonce)
	if err != nil {
		panic("tokenfmt: " + err.Error()) // the AEAD accepted both
	}
	c.XORKeyStream(block, block)
	for _, i := range []int{3, 7, 11, 15} {
		block[i] &= 15
	}
	for _, i := range []int{4, 8, 12} {
		block[i] &= 252
	}
	return polyKey{littleEndian(block[:16]), littleEndian(block[16:])}
}

// littleEndian reads a little-endian number.
func littleEndian(b []byte) *big.Int {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// littleBytes writes a little-endian number of size bytes.
func littleBytes(n *big.Int, size int) []byte {
	b := n.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

var (
	two128    = new(big.Int).Lsh(big.NewInt(1), 128)
	polyPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 130), big.NewInt(5))
)

// meetPoly1305 returns two ciphertext blocks and the tag that they have under both keys. For a
// random tag, the blocks solve two linear equations modulo 2^130-5. One solution in 16 has the
// form of two blocks.
func meetPoly1305(a, b polyKey, additional []byte, draw *rand.Rand) (body, tag []byte, ok bool) {
	for range 4096 {
		want := make([]byte, 16)
		for i := range want {
			want[i] = byte(draw.Uint32())
		}
		target := littleEndian(want)
		x1, y1, t1 := a.equation(additional, target, draw)
		x2, y2, t2 := b.equation(additional, target, draw)
		det := modPrime(new(big.Int).Sub(new(big.Int).Mul(x1, y2), new(big.Int).Mul(x2, y1)))
		inverse := new(big.Int).ModInverse(det, polyPrime)
		if inverse == nil {
			continue
		}
		c1 := modPrime(new(big.Int).Mul(inverse, new(big.Int).Sub(new(big.Int).Mul(t1, y2), new(big.Int).Mul(t2, y1))))
		c2 := modPrime(new(big.Int).Mul(inverse, new(big.Int).Sub(new(big.Int).Mul(x1, t2), new(big.Int).Mul(x2, t1))))
		c1.Sub(c1, two128)
		c2.Sub(c2, two128)
		if c1.Sign() < 0 || c2.Sign() < 0 || c1.Cmp(two128) >= 0 || c2.Cmp(two128) >= 0 {
			continue
		}
		return slices.Concat(littleBytes(c1, 16), littleBytes(c2, 16)), want, true
	}
	return nil, nil, false
}

// equation returns x, y and t such that x c1 + y c2 = t for the blocks of a 32-byte ciphertext
// whose tag is target. Several accumulators give the same tag; one is drawn at random.
func (k polyKey) equation(additional []byte, target *big.Int, draw *rand.Rand) (x, y, t *big.Int) {
	acc := new(big.Int)
	for block := range slices.Chunk(additional, 16) {
		padded := append(bytes.Clone(block), make([]byte, 16-len(block))...)
		acc = modPrime(acc.Mul(acc.Add(acc, new(big.Int).Add(littleEndian(padded), two128)), k.r))
	}
	lengths := binary.LittleEndian.AppendUint64(nil, uint64(len(additional)))
	lengths = binary.LittleEndian.AppendUint64(lengths, 32) // length of the ciphertext
	r2 := modPrime(new(big.Int).Mul(k.r, k.r))
	r3 := modPrime(new(big.Int).Mul(r2, k.r))
	end := modPrime(new(big.Int).Mul(new(big.Int).Add(littleEndian(lengths), two128), k.r))
	want := new(big.Int).Sub(target, k.s)
	want.Mod(want, two128)
	want.Add(want, new(big.Int).Mul(two128, big.NewInt(draw.Int64N(4))))
	t = modPrime(new(big.Int).Sub(new(big.Int).Sub(want, end), new(big.Int).Mul(acc, r3)))
	return r3, r2, t
}

func modPrime(n *big.Int) *big.Int { return n.Mod(n, polyPrime) }
