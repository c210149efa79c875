// Package xaes is the design xaes-256-gcm: XAES-256-GCM (c2sp.org/XAES-256-GCM)
// with a random 192-bit nonce. It runs AES-256-GCM under a key that is derived
// from the first half of the nonce with AES-256-CMAC, one block for each half
// of the key (NIST SP 800-108r1).
//
// Layout, with a payload of m bytes:
//
//	token = "sw1." || base64url(key-id[4] || nonce[24] || ciphertext[m] || tag[16])
//	associated data = "sw1." || key-id
//	key, key-id = keyring derivation under the label "sealab/xaes-256-gcm/v1"
//
// Limits: 2^80 tokens per key for a probability of a repeated nonce of 2^-32
// (c2sp.org/XAES-256-GCM, introduction). A payload has at most 2^36 - 32 bytes.
//
// Limitations: no nonce misuse resistance, no key commitment (the tag is that
// of GCM), no hidden payload length. Use package claims for time, user and
// request. Each token allocates the schedule of its derived key.
package xaes

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sw1.", NonceSize: nonceSize, TagSize: 16},
	Label:  "sealab/xaes-256-gcm/v1",
	Cipher: newXAES,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "xaes-256-gcm",
	Doc:  "encrypted with XAES-256-GCM under a random 192-bit nonce",
	Spec: "C2SP XAES-256-GCM; NIST SP 800-38D; NIST SP 800-108r1; RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Tokens:      80,
			ForgeryBits:     127,
			ForgeryPerBlock: true,
			Source:          "C2SP XAES-256-GCM, introduction",
			Approved:        "SP 800-38D, SP 800-108r1, SP 800-56C",
			Use:             "xaes.New(secret)",
		},
		Primitive: "XAES-256-GCM",
		Allocates: "each nonce has a key of its own, whose AES-GCM the standard library allocates",
	},
},
	guarantee.AESTiming, guarantee.Nonce192, guarantee.GCMTwoKeys, guarantee.RepeatedStream,
)

const nonceSize = 24

// xaes is XAES-256-GCM under one key.
type xaes struct {
	block cipher.Block
	k1    [aes.BlockSize]byte // the CMAC subkey K1
}

// newXAES performs steps 1 and 2 of the derivation, which depend only on the
// key.
func newXAES(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	x := &xaes{block: block}
	block.Encrypt(x.k1[:], x.k1[:])
	msb := byte(0)
	for i := len(x.k1) - 1; i >= 0; i-- {
		x.k1[i], msb = x.k1[i]<<1|msb, x.k1[i]>>7
	}
	x.k1[len(x.k1)-1] ^= -msb & 0x87
	return x, nil
}

// gcm performs steps 3 to 5. It returns AES-256-GCM under the key derived from
// the first half of the nonce.
func (x *xaes) gcm(nonce []byte) (cipher.AEAD, error) {
	var key [2 * aes.BlockSize]byte
	for i := range 2 {
		m := key[i*aes.BlockSize:][:aes.BlockSize]
		m[1], m[2] = byte(i+1), 'X'
		copy(m[4:], nonce)
		subtle.XORBytes(m, m, x.k1[:])
		x.block.Encrypt(m, m)
	}
	return keyring.AESGCM(key[:])
}

func (x *xaes) NonceSize() int { return nonceSize }
func (x *xaes) Overhead() int  { return 16 }

func (x *xaes) Seal(dst, nonce, plaintext, data []byte) []byte {
	gcm, err := x.gcm(nonce[:12])
	if err != nil {
		panic("xaes: " + err.Error()) // a derived key has the length of a key
	}
	return gcm.Seal(dst, nonce[12:nonceSize], plaintext, data)
}

func (x *xaes) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	gcm, err := x.gcm(nonce[:12])
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return gcm.Open(dst, nonce[12:nonceSize], ciphertext, data)
}
