package skeleton

import (
	"bytes"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// IDSize is the length of a key ID in bytes.
const IDSize = 4

// RingParts are the parts of a skeleton that handle secrets.
type RingParts struct {
	// Check refuses secrets that are weak.
	Check func(secrets [][]byte) error
	// Derive returns the key of a secret and its ID.
	Derive func(secret []byte) (key, id []byte)
	// Lookup returns the key that id names, or nil.
	Lookup func(r *Ring, id []byte) *Entry
	// First returns the key that seals.
	First func(r *Ring) *Entry
}

// A Ring is a key ring that is open.
type Ring struct {
	RingParts
	Entries []*Entry
}

// An Entry is a key of a ring, with its ID.
type Entry struct{ Key, ID []byte }

// SoundRing returns the parts of a ring without a mistake.
func SoundRing() RingParts {
	return RingParts{
		Check:  checkSecrets,
		Derive: DeriveKey,
		Lookup: func(r *Ring, id []byte) *Entry {
			for _, e := range r.Entries {
				if bytes.Equal(e.ID, id) {
					return e
				}
			}
			return nil
		},
		First: func(r *Ring) *Entry { return r.Entries[0] },
	}
}

// Open derives the keys of a ring.
func (p RingParts) Open(secrets [][]byte) (*Ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("the ring is empty")
	}
	if err := p.Check(secrets); err != nil {
		return nil, err
	}
	r := &Ring{RingParts: p}
	for _, s := range secrets {
		key, id := p.Derive(bytes.Clone(s))
		r.Entries = append(r.Entries, &Entry{key, id})
	}
	return r, nil
}

func checkSecrets(secrets [][]byte) error {
	for i, s := range secrets {
		if len(s) < codecs.MinSecret {
			return fmt.Errorf("secret %d has %d bytes, want %d or more", i+1, len(s), codecs.MinSecret)
		}
		for j := range i {
			if bytes.Equal(s, secrets[j]) {
				return fmt.Errorf("secrets %d and %d are the same", j+1, i+1)
			}
		}
	}
	return nil
}

// DeriveKey returns the key and the key ID of a secret.
func DeriveKey(secret []byte) (key, id []byte) {
	return lab.Derive(secret, "sealab/flawed key", 32), lab.Derive(secret, "sealab/flawed key-id", IDSize)
}

// RawKey uses the secret itself as the key.
func RawKey(secret []byte) (key, id []byte) {
	_, id = DeriveKey(secret)
	return secret, id
}

// NewRing returns a signer whose ring has a mistake.
func NewRing(name, doc string, broken []codecs.Property, attack string, mistake func(*RingParts)) Control {
	return NewSigner(name, doc, broken, []string{attack}, func(p *SignerParts) { mistake(&p.RingParts) })
}

// OrElse looks up a key with other if the ring has none of the ID.
func (p *RingParts) OrElse(other func(r *Ring, id []byte) *Entry) {
	lookup := p.Lookup
	p.Lookup = func(r *Ring, id []byte) *Entry {
		if e := lookup(r, id); e != nil {
			return e
		}
		return other(r, id)
	}
}
