// Package cbchmac is the design aes-cbc-hmac: A256CBC-HS512 (RFC 7518, section
// 5.2.5), a common content encryption of JWE. It encrypts with AES-256-CBC and
// authenticates the ciphertext with HMAC-SHA512.
//
// Layout, with a payload of m bytes and n = 16 * (m/16 + 1):
//
//	token = "sb1." || base64url(key-id[4] || iv[16] || ciphertext[n] || tag[32])
//	tag = HMAC-SHA512(MAC key, associated data || iv || ciphertext || 64-bit length of associated data in bits)[:32]
//	associated data = "sb1." || key-id
//	MAC key || encryption key = HKDF-SHA256(key, label || " cipher", 64)
//	key, key-id = keyring derivation under the label "sealab/aes-cbc-hmac/v1"
//
// The tag is verified before decryption, so that errors in the padding are not
// an oracle.
//
// Limits: 2^48 blocks of 16 bytes per key for a probability below 2^-32 that two
// blocks of ciphertext are equal: n random blocks of 128 bits have a pair with a
// probability of at most n^2/2^129. An equal pair shows the difference of two blocks
// of payload. Payloads are bounded by memory.
//
// Limitations: no nonce misuse resistance (a repeated initialization vector
// reveals common prefixes), no hidden payload length (it is rounded up to 16).
// Use package claims for time, user and request. The MAC key alone does not
// commit to the encryption key. Commitment relies on deriving both from one
// secret. Each token allocates a CBC mode.
package cbchmac

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"hash"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const label = "sealab/aes-cbc-hmac/v1"

var format = layouts.AEAD{
	Format: layouts.Format{Prefix: "sb1.", NonceSize: nonceSize, TagSize: tagSize, BlockSize: aes.BlockSize},
	Label:  label,
	Cipher: open,
}

// New returns a [codecs.Codec] that seals under the first secret and unseals
// under each; an empty ring and a short, weak, repeated or colliding secret are
// errors.
func New(secrets ...[]byte) (*layouts.Codec, error) { return format.New(secrets...) }

// open returns the AEAD under the keys that are derived from key.
func open(key []byte) (cipher.AEAD, error) {
	return newCBC(keyring.Derive(key, label+" cipher", keySize))
}

// Design is the catalog row.
var Design = format.Design(codecs.Design{
	Name: "aes-cbc-hmac",
	Doc:  "encrypted with AES-256-CBC and authenticated with HMAC-SHA512, as in JWE",
	Spec: "RFC 7518, section 5.2.5 (A256CBC-HS512); RFC 5869",
	Hooks: &lab.Hooks{
		Facts: &lab.Facts{
			Log2Bytes:   52,
			ForgeryBits: 256,
			Source:      "birthday bound on 2^48 blocks of 128 bits: equal blocks of ciphertext",
			Approved:    "SP 800-38A, FIPS 198-1, SP 800-56C",
			Use:         "cbchmac.New(secret)",
		},
		Primitive: "AES-256-CBC-HMAC-SHA512",
		Allocates: "the standard library allocates a CBC mode per token",
	},
},
	guarantee.AESTiming,
	codecs.HoldsBecause(codecs.KeyCommitting, "both keys are derived from one secret, so that a token that opens under two keys needs a collision of HMAC-SHA512 cut to 256 bits"),
	guarantee.IV128,
	codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated initialization vector reveals how many leading blocks two payloads share"),
)

const (
	nonceSize = aes.BlockSize
	tagSize   = 32
	keySize   = 64 // MAC key, encryption key
)

var errOpen = errors.New("cbchmac: message authentication failed")

// cbc is A256CBC-HS512 under one key.
type cbc struct {
	block cipher.Block
	macs  sync.Pool
}

// state is a keyed HMAC-SHA512 with room for its result. One goroutine uses it
// at a time.
type state struct {
	hash.Hash
	sum  [sha512.Size]byte
	bits [8]byte // length of the associated data in bits
}

func newCBC(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, aes.KeySizeError(len(key))
	}
	block, err := aes.NewCipher(key[32:])
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	mac := slices.Clone(key[:32])
	return &cbc{block, sync.Pool{New: func() any { return &state{Hash: hmac.New(sha512.New, mac)} }}}, nil
}

func (c *cbc) NonceSize() int { return nonceSize }
func (c *cbc) Overhead() int  { return aes.BlockSize + tagSize }

// tag writes the tag to out: the first half of the HMAC-SHA512 of the
// associated data, the initialization vector, the ciphertext and the length of
// the associated data (RFC 7518, section 5.2.2.1).
func (c *cbc) tag(out *[tagSize]byte, nonce, body, data []byte) {
	s := c.macs.Get().(*state)
	s.Reset()
	s.Write(data)
	s.Write(nonce)
	s.Write(body)
	binary.BigEndian.PutUint64(s.bits[:], uint64(len(data))*8)
	s.Write(s.bits[:])
	copy(out[:], s.Sum(s.sum[:0]))
	c.macs.Put(s)
}

func (c *cbc) Seal(dst, nonce, plaintext, data []byte) []byte {
	pad := aes.BlockSize - len(plaintext)%aes.BlockSize
	start := len(dst)
	dst = append(slices.Grow(dst, len(plaintext)+pad+tagSize), plaintext...)
	for range pad { // PKCS #7
		dst = append(dst, byte(pad))
	}
	body := dst[start:]
	cipher.NewCBCEncrypter(c.block, nonce).CryptBlocks(body, body)
	var tag [tagSize]byte
	c.tag(&tag, nonce, body, data)
	return append(dst, tag[:]...)
}

// Open verifies the tag before it decrypts, so that it reads only padding that
// a holder of the key wrote.
func (c *cbc) Open(dst, nonce, ciphertext, data []byte) ([]byte, error) {
	n := len(ciphertext) - tagSize
	//mutant:equivalent the layout refuses tokens that are too short first; the tag is verified as well, and sealing makes no such plaintext
	if n < aes.BlockSize || n%aes.BlockSize != 0 {
		return nil, errOpen
	}
	var want [tagSize]byte
	c.tag(&want, nonce, ciphertext[:n], data)
	if subtle.ConstantTimeCompare(want[:], ciphertext[n:]) != 1 {
		return nil, errOpen
	}
	// The last block is decrypted first and separately, because dst may have
	// room only for the payload.
	var last [aes.BlockSize]byte
	previous := nonce
	if n > aes.BlockSize {
		previous = ciphertext[n-2*aes.BlockSize : n-aes.BlockSize]
	}
	cipher.NewCBCDecrypter(c.block, previous).CryptBlocks(last[:], ciphertext[n-aes.BlockSize:n])
	pad := int(last[aes.BlockSize-1])
	//mutant:equivalent the tag is verified as well, and sealing makes no such plaintext
	if !padded(last[:], pad) {
		return nil, errOpen
	}
	start := len(dst)
	dst = slices.Grow(dst, n-pad)[:start+n-aes.BlockSize]
	if n > aes.BlockSize {
		cipher.NewCBCDecrypter(c.block, nonce).CryptBlocks(dst[start:], ciphertext[:n-aes.BlockSize])
	}
	return append(dst, last[:aes.BlockSize-pad]...), nil
}

// padded reports whether a block ends in pad bytes of that value.
func padded(block []byte, pad int) bool {
	//mutant:equivalent the tag is verified as well, and sealing makes no such plaintext
	if pad < 1 || pad > len(block) {
		return false
	}
	for _, b := range block[len(block)-pad:] {
		//mutant:equivalent the tag is verified as well, and sealing makes no such plaintext
		if int(b) != pad {
			return false
		}
	}
	return true
}
