// Package keyring turns secrets into keys. It checks their strength, derives
// keys and key IDs, holds the ring that rotates them, opens AES-GCM, and is the
// module's only source of randomness.
//
// A design derives from a secret, with HKDF-SHA256 (RFC 5869, no salt) and its
// own labels,
//
//	key    = HKDF(secret, label || " key", 32)
//	key ID = HKDF(secret, label || " key-id", 4)
//
// so that one secret can serve several designs and a token names its key. A key
// ID has 32 bits. If two secrets of a ring collide, construction fails with an
// error that names them.
//
// The package does not store secrets. It does not wipe memory, which Go cannot
// guarantee, and does not protect keys from a reader of the process's memory.
package keyring

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"

	"sealab/codecs"
)

// KeySize is the length in bytes of a derived key.
const KeySize = 32

// An ID names a key inside a token.
type ID [4]byte

// A Ring holds a value of the design for each key. It is immutable and safe for
// concurrent use.
type Ring[T any] struct {
	first Entry[T]
	byID  map[ID]*Entry[T]
}

// An Entry is one key of a ring.
type Entry[T any] struct {
	ID  ID
	Key T
}

// First returns the key that seals.
func (r *Ring[T]) First() *Entry[T] { return &r.first }

// Lookup returns the key with the given key ID, or nil. Its time does not
// depend on the position of the key in the ring.
func (r *Ring[T]) Lookup(id []byte) *Entry[T] {
	//mutant:equivalent the call cannot fail with these arguments
	if len(id) != len(ID{}) {
		return nil
	}
	if ID(id) == r.first.ID {
		return &r.first
	}
	return r.byID[ID(id)]
}

// New derives a key and a key ID from each secret under the design's label, and
// makes a ring of the results of setup. setup must not keep key. Weak,
// duplicate and colliding secrets are errors.
func New[T any](secrets [][]byte, label string, setup func(key []byte, id ID) (T, error)) (*Ring[T], error) {
	for i, s := range secrets {
		if err := CheckStrength(s); err != nil {
			return nil, fmt.Errorf("secret %d of %d %w", i+1, len(secrets), err)
		}
	}
	return Index(secrets, func(secret []byte) (id ID, t T, err error) {
		copy(id[:], Derive(secret, label+" key-id", len(id)))
		key := Derive(secret, label+" key", KeySize)
		t, err = setup(key, id)
		clear(key)
		return id, t, err
	})
}

// Index makes a ring of the results of setup for each secret. It serves formats
// with their own derivation of keys and key IDs and their own check of
// strength. Duplicate and colliding secrets are errors.
func Index[T any](secrets [][]byte, setup func(secret []byte) (ID, T, error)) (*Ring[T], error) {
	if err := checkEmpty(secrets); err != nil {
		return nil, err
	}
	r := &Ring[T]{byID: make(map[ID]*Entry[T], len(secrets))}
	place := make(map[ID]int, len(secrets))
	for i, s := range secrets {
		id, key, err := setup(s)
		//mutant:equivalent the call cannot fail with these arguments
		if err != nil {
			return nil, err
		}
		if j, taken := place[id]; taken {
			return nil, clash(secrets, j, i)
		}
		place[id] = i
		r.byID[id] = &Entry[T]{ID: id, Key: key}
		if i == 0 {
			r.first = *r.byID[id]
		}
	}
	return r, nil
}

func clash(secrets [][]byte, i, j int) error {
	return cmp.Or(CheckDistinct(secrets),
		fmt.Errorf("secrets %d and %d of %d have the same 32-bit key ID: replace one of them", i+1, j+1, len(secrets)))
}

func checkEmpty(secrets [][]byte) error {
	if len(secrets) == 0 {
		return fmt.Errorf("the key ring is empty: give at least one secret of %d random bytes", codecs.MinSecret)
	}
	return nil
}

// CheckDistinct refuses a ring that contains a secret twice.
func CheckDistinct(secrets [][]byte) error {
	for i, s := range secrets {
		if j := slices.IndexFunc(secrets[:i], func(o []byte) bool { return bytes.Equal(o, s) }); j >= 0 {
			return fmt.Errorf("secrets %d and %d of %d are the same: leave one out", j+1, i+1, len(secrets))
		}
	}
	return nil
}

// how ends the error for a weak secret with a command that makes a strong one.
const how = "make one with: (umask 077; head -c 32 /dev/urandom > secret.key)"

// CheckStrength refuses a secret that is too short or repeats one byte. Its
// errors continue a sentence that names the secret's place in the ring, never
// the secret.
func CheckStrength(secret []byte) error {
	if err := checkLength(secret); err != nil {
		return err
	}
	if bytes.Count(secret, secret[:1]) == len(secret) {
		return fmt.Errorf("is one byte repeated and not random: %s", how)
	}
	return nil
}

func checkLength(secret []byte) error {
	if len(secret) < codecs.MinSecret {
		return fmt.Errorf("must have at least %d bytes and has %d: %s", codecs.MinSecret, len(secret), how)
	}
	return nil
}

// CheckLengths refuses an empty ring and secrets of fewer than codecs.MinSecret
// bytes, as the SDKs do.
func CheckLengths(secrets [][]byte) error {
	if err := checkEmpty(secrets); err != nil {
		return err
	}
	for i, s := range secrets {
		if err := checkLength(s); err != nil {
			return fmt.Errorf("secret %d of %d %w", i+1, len(secrets), err)
		}
	}
	return nil
}

// Derive returns n bytes of HKDF-SHA256 of secret, without salt, under label.
// n is at most 8160.
func Derive(secret []byte, label string, n int) []byte {
	out, err := hkdf.Key(sha256.New, secret, nil, label, n)
	if err != nil {
		panic("keyring: " + err.Error()) // n is too large, which is a bug in the design
	}
	return out
}

// Generate returns a new random secret.
func Generate() []byte {
	secret := make([]byte, codecs.MinSecret)
	Random(secret)
	return secret
}

// Ephemeral returns the codec that open returns for one new random secret.
func Ephemeral[C any](open func(secrets ...[]byte) (C, error)) C {
	c, err := open(Generate())
	if err != nil {
		panic("keyring: " + err.Error()) // a generated secret is always strong
	}
	return c
}

// AESGCM returns AES-GCM (NIST SP 800-38D) under a key of 16, 24 or 32 bytes.
func AESGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Random fills b with random bytes from the operating system. It is the
// module's only use of crypto/rand. It cannot fail: crypto/rand ends the
// program if the system has no randomness.
func Random(b []byte) {
	rand.Read(b) //nolint:errcheck // documented to never return an error
}

// Guarantees returns the guarantees of every design whose tokens carry a key ID
// of the ring and that authenticates before it does anything else.
func Guarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Inert),
		codecs.Disclaims(codecs.PrivateKeys, "the key ID is derived from the secret: guesses of a weak secret can be checked against its 32 bits"),
	)
}
