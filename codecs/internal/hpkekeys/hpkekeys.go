// Package hpkekeys has the common parts of the HPKE designs: the suite, the
// derivation of keys from a ring secret, and the set-up of a context on either
// side.
//
// It is RFC 9180 in mode_psk (0x01) with DHKEM(X25519, HKDF-SHA256) (0x0020) or
// X-Wing (0x647a, draft-connolly-cfrg-xwing-kem), HKDF-SHA256 (0x0001) and
// AES-256-GCM (0x0002). From the 32-byte key that package keyring derives from a secret
// under a design's label,
//
//	ikm = HKDF-SHA256(key, label || " kem", 32)
//	psk = HKDF-SHA256(key, label || " psk", 32)
//	private, public = DeriveKeyPair(ikm)  (RFC 9180, section 7.1.3)
//	psk_id = key-id, info = label
//
// An encapsulation under X25519 is the 32 bytes of a public key in canonical
// form: an integer below 2^255 - 19, little endian. X25519 itself also accepts
// the unused top bit and the integers from 2^255 - 19 on (RFC 7748, section 5),
// which would give a token several encodings. An encapsulation under X-Wing is
// 1,088 bytes of ML-KEM-768 and an X25519 public key. There another encoding
// gives another secret: ML-KEM encrypts again to compare, and X-Wing hashes the
// public key into the shared secret.
//
// Mode_psk authenticates a sender as a holder of the pre-shared key. The
// recipient also holds that key. There is no forward secrecy, because the
// private key lives as long as its secret. X25519 is not post-quantum.
package hpkekeys

import (
	"bytes"
	"fmt"
	"strings"

	circl "github.com/cloudflare/circl/hpke"
	"github.com/cloudflare/circl/kem/xwing"
)

// The sizes in bytes of the inputs of a context over X25519.
const (
	EncSize  = 32 // an encapsulation
	SeedSize = 32 // the randomness of one encapsulation: ikmE of RFC 9180
	keySize  = 32 // a public key, a private key, a pre-shared key
)

// A KEM is a key encapsulation mechanism, with the lengths in bytes of an
// encapsulation and of its seed.
type KEM struct {
	id                circl.KEM
	EncSize, SeedSize int
	Canonical         func(enc []byte) bool // reports whether enc is a canonical encapsulation
}

// The key encapsulation mechanisms of the designs.
var (
	X25519 = &KEM{circl.KEM_X25519_HKDF_SHA256, EncSize, SeedSize, Canonical}
	XWing  = &KEM{circl.KEM_XWING, xwing.CiphertextSize, xwing.EncapsulationSeedSize,
		func(enc []byte) bool { return len(enc) == xwing.CiphertextSize }}
)

func (k *KEM) suite() circl.Suite {
	return circl.NewSuite(k.id, circl.KDF_HKDF_SHA256, circl.AEAD_AES256GCM)
}

// Encapsulate sets up a sender's context from a seed of the KEM's length and
// returns its encapsulation. The same seed gives the same context.
func (p *PublicKey) Encapsulate(seed []byte) ([]byte, circl.Sealer, error) {
	sender, err := p.kem.suite().NewSender(p.public, []byte(p.label))
	if err != nil {
		return nil, nil, fmt.Errorf("hpke: %w", err)
	}
	enc, ctx, err := sender.SetupPSK(bytes.NewReader(seed), p.psk, p.ID[:])
	if err != nil {
		return nil, nil, fmt.Errorf("hpke: %w", err)
	}
	return enc, ctx, nil
}

// Decapsulate sets up the recipient's context. It fails if enc has the wrong
// length or is a point of low order. It does not check that enc is canonical.
func (p *PrivateKey) Decapsulate(enc []byte) (circl.Opener, error) {
	return p.decapsulate(enc, p.ID[:])
}

func (p *PrivateKey) decapsulate(enc, pskID []byte) (circl.Opener, error) {
	recipient, err := p.kem.suite().NewReceiver(p.private, []byte(p.label))
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	ctx, err := recipient.SetupPSK(enc, p.psk, pskID)
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	return ctx, nil
}

// SealerFor returns a sender's context for any encapsulation and psk_id,
// including those that no honest sender makes. It needs the private key. An
// Assembler uses it to seal under given values.
func (p *PrivateKey) SealerFor(enc, pskID []byte) (circl.Sealer, error) {
	opener, err := p.decapsulate(enc, pskID)
	if err != nil {
		return nil, err
	}
	raw, err := opener.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("hpke: %w", err)
	}
	raw[0] = 0 // the role, the only difference between the two sides of a context
	return circl.UnmarshalSealer(raw)
}

// field is the X25519 prime 2^255 - 19, little endian.
var field = "\xed" + strings.Repeat("\xff", EncSize-2) + "\x7f"

// Canonical reports whether enc is a canonical X25519 public key.
// It is not constant-time: encapsulations are public.
func Canonical(enc []byte) bool {
	//mutant:equivalent the layout gives enc its size
	if len(enc) != EncSize {
		return false
	}
	for i := EncSize - 1; i >= 0; i-- {
		if enc[i] != field[i] {
			return enc[i] < field[i]
		}
	}
	return false
}
