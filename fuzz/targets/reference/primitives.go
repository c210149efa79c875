package reference

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs/catalog"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
)

// pairs are the checks, each of which compares two implementations of a primitive.
var pairs = []func(*program.Program) error{gcmTwice, xchachaTwice, base64Twice, hpkeTwice}

// Primitives compares two implementations of the primitive that p chooses.
func Primitives(p *program.Program) error { return pairs[p.Pick(len(pairs))](p) }

// hidden hides AES from crypto/cipher, which then uses generic code instead of assembly.
type hidden struct{ cipher.Block }

func gcmTwice(p *program.Program) error {
	block, err := aes.NewCipher(exactly(p, 32))
	if err != nil {
		return err
	}
	fast, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	generic, err := cipher.NewGCM(hidden{block})
	if err != nil {
		return err
	}
	return aeadTwice(p, "AES-256-GCM", fast, func(nonce, text, data []byte) []byte {
		return generic.Seal(nil, nonce, text, data)
	}, func(nonce, sealed, data []byte) ([]byte, bool) {
		out, err := generic.Open(nil, nonce, sealed, data)
		return out, err == nil
	})
}

func xchachaTwice(p *program.Program) error {
	key := exactly(p, 32)
	a, err := chacha20poly1305.NewX(key)
	if err != nil {
		return err
	}
	return aeadTwice(p, "XChaCha20-Poly1305", a,
		func(nonce, text, data []byte) []byte { return Seal(key, nonce, text, data) },
		func(nonce, sealed, data []byte) ([]byte, bool) { return Open(key, nonce, sealed, data) })
}

// aeadTwice compares an AEAD with another implementation: their ciphertexts, and their answers
// to altered ciphertexts.
func aeadTwice(p *program.Program, name string, a cipher.AEAD,
	sealAgain func(nonce, text, data []byte) []byte, openAgain func(nonce, sealed, data []byte) ([]byte, bool)) error {
	nonce, data, text := exactly(p, a.NonceSize()), p.Bytes(64), program.Payload(p, nil)
	sealed := a.Seal(nil, nonce, text, data)
	if again := sealAgain(nonce, text, data); !bytes.Equal(sealed, again) {
		return harness.Fail("", name+" seals differently in two implementations", "%x and %x", sealed, again)
	}
	for range p.Few(16) { // bounded, because an alteration may double the length
		sealed = program.Alter(p, sealed)
	}
	got, err := a.Open(nil, nonce, sealed, data)
	again, okAgain := openAgain(nonce, sealed, data)
	if ok := err == nil; ok != okAgain || !bytes.Equal(got, again) {
		return harness.Fail("", name+" opens differently in two implementations", "%x, %v and %x, %v: %x", got, ok, again, okAgain, sealed)
	}
	return nil
}

// exactly reads n bytes. After the end of the input, it reads zeros.
func exactly(p *program.Program, n int) []byte {
	b := make([]byte, n)
	copy(b, p.Bytes(n))
	return b
}

// base64Twice compares the decoder with the standard library's, which is strict
// except for CR and LF.
func base64Twice(p *program.Program) error {
	text := p.Rest()
	got, ok := catalog.AppendFromBase64URL(nil, text)
	want, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if accepts := err == nil && !bytes.ContainsAny(text, "\r\n"); ok != accepts || ok && !bytes.Equal(got, want) {
		return harness.Fail("", "base64url decodes differently from the standard library", "%x, %v and %x, %v: %q", got, ok, want, accepts, text)
	}
	if again := catalog.AppendBase64URL(nil, text); string(again) != base64.RawURLEncoding.EncodeToString(text) {
		return harness.Fail("", "base64url encodes differently from the standard library", "%q for %x", again, text)
	}
	return nil
}

// PrimitivesSeeds returns, for each primitive, messages of several lengths with and without an
// alteration.
func PrimitivesSeeds() [][]byte {
	var seeds [][]byte
	for i := range pairs {
		for _, n := range []int{0, 1, 16, 64, 300} {
			var w program.Writer
			w.Pick(i, len(pairs)).Bytes([]byte("key")).Bytes([]byte("nonce")).Bytes([]byte("data")).Bytes(bytes.Repeat([]byte("Ab-_"), n))
			seeds = append(seeds, bytes.Clone(w.Program()), w.Byte(1).Byte(0).Byte(program.Anywhere).Uint16(3).Byte('x').Program())
		}
	}
	return seeds
}
