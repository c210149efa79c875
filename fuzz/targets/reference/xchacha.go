// Package reference compares primitives and readers with a second implementation: the standard
// library, another library, Python, or a direct transcription of the specification of
// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03, based on RFC 8439) with plain loops and big
// integers. The transcription is slow, not constant-time, and for fuzzing only.
package reference

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
)

// Seal returns the ciphertext of text, followed by its 16-byte tag. The key has 32 bytes, the
// nonce 24.
func Seal(key, nonce, text, data []byte) []byte {
	subkey, short := hchacha20(key, nonce[:16]), append(make([]byte, 4), nonce[16:]...)
	sealed := chacha20(subkey, short, 1, text)
	oneTime := chacha20(subkey, short, 0, make([]byte, 32))
	return append(sealed, poly1305(oneTime, aeadInput(sealed, data))...)
}

// Open returns the text of a ciphertext of Seal. It reports false if the tag is wrong.
func Open(key, nonce, sealed, data []byte) ([]byte, bool) {
	if len(sealed) < 16 {
		return nil, false
	}
	n := len(sealed) - 16
	subkey, short := hchacha20(key, nonce[:16]), append(make([]byte, 4), nonce[16:]...)
	oneTime := chacha20(subkey, short, 0, make([]byte, 32))
	if !bytes.Equal(poly1305(oneTime, aeadInput(sealed[:n], data)), sealed[n:]) {
		return nil, false
	}
	return chacha20(subkey, short, 1, sealed[:n]), true
}

// aeadInput returns the message that the tag authenticates (RFC 8439, section 2.8).
func aeadInput(sealed, data []byte) []byte {
	in := padded(padded(nil, data), sealed)
	in = binary.LittleEndian.AppendUint64(in, uint64(len(data)))
	return binary.LittleEndian.AppendUint64(in, uint64(len(sealed)))
}

func padded(dst, b []byte) []byte {
	dst = append(dst, b...)
	return append(dst, make([]byte, (16-len(b)%16)%16)...)
}

// initial returns the initial state of RFC 8439, section 2.3, with the given last four words.
func initial(key, last []byte) (state [16]uint32) {
	copy(state[:], []uint32{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574})
	for i := range 8 {
		state[4+i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	for i := range 4 {
		state[12+i] = binary.LittleEndian.Uint32(last[4*i:])
	}
	return state
}

// rounds applies the twenty rounds of RFC 8439, section 2.3.
func rounds(s *[16]uint32) {
	quarter := func(a, b, c, d int) {
		s[a] += s[b]
		s[d] = bits.RotateLeft32(s[d]^s[a], 16)
		s[c] += s[d]
		s[b] = bits.RotateLeft32(s[b]^s[c], 12)
		s[a] += s[b]
		s[d] = bits.RotateLeft32(s[d]^s[a], 8)
		s[c] += s[d]
		s[b] = bits.RotateLeft32(s[b]^s[c], 7)
	}
	for range 10 {
		for i := range 4 {
			quarter(i, 4+i, 8+i, 12+i)
		}
		for i := range 4 {
			quarter(i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4)
		}
	}
}

// hchacha20 implements section 2.2 of the draft.
func hchacha20(key, nonce []byte) []byte {
	s := initial(key, nonce)
	rounds(&s)
	var out []byte
	for _, i := range []int{0, 1, 2, 3, 12, 13, 14, 15} {
		out = binary.LittleEndian.AppendUint32(out, s[i])
	}
	return out
}

// chacha20 implements section 2.4 of RFC 8439.
func chacha20(key, nonce []byte, counter uint32, text []byte) []byte {
	out := make([]byte, 0, len(text))
	for block := range slices.Chunk(text, 64) {
		start := initial(key, append(binary.LittleEndian.AppendUint32(nil, counter), nonce...))
		s := start
		rounds(&s)
		var stream []byte
		for i := range s {
			stream = binary.LittleEndian.AppendUint32(stream, s[i]+start[i])
		}
		for i, b := range block {
			out = append(out, b^stream[i])
		}
		counter++
	}
	return out
}

// poly1305 implements section 2.5 of RFC 8439.
func poly1305(key, message []byte) []byte {
	r := bytes.Clone(key[:16])
	for _, i := range []int{3, 7, 11, 15} {
		r[i] &= 15
	}
	for _, i := range []int{4, 8, 12} {
		r[i] &= 252
	}
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 130), big.NewInt(5))
	multiplier, sum := littleEndian(r), new(big.Int)
	for block := range slices.Chunk(message, 16) {
		sum.Add(sum, littleEndian(append(bytes.Clone(block), 1)))
		sum.Mod(sum.Mul(sum, multiplier), p)
	}
	sum.Add(sum, littleEndian(key[16:32]))
	tag := sum.FillBytes(make([]byte, 32))
	slices.Reverse(tag)
	return tag[:16]
}

func littleEndian(b []byte) *big.Int {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}
