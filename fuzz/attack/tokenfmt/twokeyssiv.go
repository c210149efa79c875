package tokenfmt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/ericlagergren/polyval"
)

// MeetSIV returns a ciphertext and a tag that AES-GCM-SIV (RFC 8452) opens under two keys, for
// one nonce and associated data. A chosen tag determines both key streams and, by decryption,
// both POLYVAL sums. The sums are affine over GF(2) in the ciphertext, which gives 256
// equations.
func MeetSIV(keyA, keyB, nonce, data []byte, draw *rand.Rand) (body, tag []byte, ok bool) {
	a, errA := newSIVKeys(keyA, nonce)
	b, errB := newSIVKeys(keyB, nonce)
	if errA != nil || errB != nil {
		return nil, nil, false
	}
	for range 64 {
		tag = make([]byte, aes.BlockSize)
		for i := range tag {
			tag[i] = byte(draw.Uint32())
		}
		sumA, okA := a.want(tag, nonce)
		sumB, okB := b.want(tag, nonce)
		if !okA || !okB {
			continue // no plaintext has this tag
		}
		differs := func(sum, want []byte) []byte { sum[15] &= 0x7f; return Xor(sum, want) }
		streamA, streamB := a.stream(tag), b.stream(tag)
		zero := func([]byte) []byte { return make([]byte, 2*aes.BlockSize) }
		body, ok = MeetAffine(collisionSize, zero, func(body []byte) []byte {
			return slices.Concat(differs(a.sum(data, Xor(body, streamA)), sumA), differs(b.sum(data, Xor(body, streamB)), sumB))
		})
		if ok {
			return body, tag, true
		}
	}
	return nil, nil, false
}

// sivKeys holds the two keys of AES-GCM-SIV for one nonce (RFC 8452, section 4).
type sivKeys struct {
	auth  []byte
	block cipher.Block
}

func newSIVKeys(key, nonce []byte) (k sivKeys, err error) {
	generator, err := aes.NewCipher(key)
	if err != nil {
		return k, err
	}
	var derived []byte
	for i := range uint32(2 + len(key)/8) {
		in := append(binary.LittleEndian.AppendUint32(nil, i), nonce...)
		generator.Encrypt(in, in)
		derived = append(derived, in[:8]...)
	}
	k.auth = derived[:16]
	k.block, err = aes.NewCipher(derived[16:])
	return k, err
}

// want returns the POLYVAL sum, without its first bit, of a plaintext with the given tag. It
// reports false if no plaintext has the tag.
func (k sivKeys) want(tag, nonce []byte) ([]byte, bool) {
	in := make([]byte, aes.BlockSize)
	k.block.Decrypt(in, tag)
	return append(Xor(in[:len(nonce)], nonce), in[len(nonce):]...), in[15]&0x80 == 0
}

// stream returns the key stream for a tag.
func (k sivKeys) stream(tag []byte) (stream []byte) {
	counter := bytes.Clone(tag)
	counter[15] |= 0x80
	for first := binary.LittleEndian.Uint32(counter); len(stream) < collisionSize; first++ {
		binary.LittleEndian.PutUint32(counter, first)
		stream = append(stream, make([]byte, aes.BlockSize)...)
		k.block.Encrypt(stream[len(stream)-aes.BlockSize:], counter)
	}
	return stream
}

// sum returns POLYVAL of the padded associated data, of a plaintext of whole blocks, and of
// their lengths in bits.
func (k sivKeys) sum(data, plaintext []byte) []byte {
	p, err := polyval.New(k.auth)
	if err != nil {
		panic("tokenfmt: " + err.Error()) // a 16-byte key is valid for POLYVAL unless it is zero
	}
	text := append(bytes.Clone(data), make([]byte, -len(data)&(aes.BlockSize-1))...)
	text = append(text, plaintext...)
	text = binary.LittleEndian.AppendUint64(text, 8*uint64(len(data)))
	p.Update(binary.LittleEndian.AppendUint64(text, 8*uint64(len(plaintext))))
	return p.Sum(nil)
}
