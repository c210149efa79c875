package targets

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs/catalog"
	"sealab/fuzz/program"
	"sealab/fuzz/targets/reference"
)

var primitivesTarget = Target{
	Name: "primitives", Layer: LayerImplementations,
	Doc:   "the primitives in two implementations each: AES-GCM in assembly and in Go, XChaCha20-Poly1305 and a plain reading of its draft, base64url by vectors and by the standard library, HPKE in circl and in crypto/hpke",
	Draws: true,
	Check: primitives,
	Seeds: primitivesSeeds,
}

// pairs are the primitives that are compared.
var pairs = []func(*program.Program) error{gcmTwice, xchachaTwice, base64Twice, hpkeTwice}

func primitives(p *program.Program) error {
	return pairs[p.Pick(len(pairs))](p)
}

// hidden keeps crypto/cipher from seeing that a block cipher is AES, so that
// it takes the generic code and not the assembly.
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
	open := func(a cipher.AEAD) func(nonce, sealed, data []byte) ([]byte, bool) {
		return func(nonce, sealed, data []byte) ([]byte, bool) {
			out, err := a.Open(nil, nonce, sealed, data)
			return out, err == nil
		}
	}
	seal := func(a cipher.AEAD) func(nonce, text, data []byte) []byte {
		return func(nonce, text, data []byte) []byte { return a.Seal(nil, nonce, text, data) }
	}
	return aeadTwice(p, "AES-256-GCM", 12, seal(fast), seal(generic), open(fast), open(generic))
}

func xchachaTwice(p *program.Program) error {
	key := exactly(p, 32)
	a, err := chacha20poly1305.NewX(key)
	if err != nil {
		return err
	}
	return aeadTwice(p, "XChaCha20-Poly1305", chacha20poly1305.NonceSizeX,
		func(nonce, text, data []byte) []byte { return a.Seal(nil, nonce, text, data) },
		func(nonce, text, data []byte) []byte { return reference.Seal(key, nonce, text, data) },
		func(nonce, sealed, data []byte) ([]byte, bool) {
			out, err := a.Open(nil, nonce, sealed, data)
			return out, err == nil
		},
		func(nonce, sealed, data []byte) ([]byte, bool) { return reference.Open(key, nonce, sealed, data) })
}

// aeadTwice compares two implementations of an AEAD: what they seal, and how
// they answer to what was sealed and then altered.
func aeadTwice(p *program.Program, name string, nonceSize int,
	seal, sealAgain func(nonce, text, data []byte) []byte,
	open, openAgain func(nonce, sealed, data []byte) ([]byte, bool)) error {
	nonce, data, text := exactly(p, nonceSize), p.Bytes(64), matter(p, nil)
	sealed := seal(nonce, text, data)
	if again := sealAgain(nonce, text, data); !bytes.Equal(sealed, again) {
		return fmt.Errorf("%s: sealed %x and %x", name, sealed, again)
	}
	for range p.Few(16) { // an alteration may double it
		sealed = alter(p, sealed)
	}
	got, ok := open(nonce, sealed, data)
	again, okAgain := openAgain(nonce, sealed, data)
	if ok != okAgain || !bytes.Equal(got, again) {
		return fmt.Errorf("%s: %x opens to %x, %v and to %x, %v", name, sealed, got, ok, again, okAgain)
	}
	return nil
}

// exactly reads n bytes, zeros where the input ends.
func exactly(p *program.Program, n int) []byte {
	b := make([]byte, n)
	copy(b, p.Bytes(n))
	return b
}

// base64Twice compares the decoder with the standard library's, which is strict
// but for CR and LF.
func base64Twice(p *program.Program) error {
	text := p.Rest()
	got, ok := catalog.AppendFromBase64URL(nil, text)
	want, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if accepts := err == nil && !bytes.ContainsAny(text, "\r\n"); ok != accepts || ok && !bytes.Equal(got, want) {
		return fmt.Errorf("base64url: %q decodes to %x, %v and to %x, %v", text, got, ok, want, accepts)
	}
	if again := catalog.AppendBase64URL(nil, text); string(again) != base64.RawURLEncoding.EncodeToString(text) {
		return fmt.Errorf("base64url: %x encodes to %q", text, again)
	}
	return nil
}

func primitivesSeeds() ([][]byte, error) {
	var seeds [][]byte
	for i := range pairs {
		for _, n := range []int{0, 1, 16, 64, 300} {
			var w program.Writer
			w.Pick(i, len(pairs)).Bytes([]byte("key")).Bytes([]byte("nonce")).Bytes([]byte("data")).Bytes(bytes.Repeat([]byte("Ab-_"), n))
			seeds = append(seeds, bytes.Clone(w.Program()), w.Byte(1).Byte(0).Byte(anywhere).Uint16(3).Byte('x').Program())
		}
	}
	return begun(seeds), nil
}
