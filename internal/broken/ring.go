package broken

import (
	"bytes"
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
)

// idSize is the length of a key ID in bytes.
const idSize = 4

// ringParts are the parts of how a skeleton treats secrets.
type ringParts struct {
	check  func(secrets [][]byte) error
	derive func(secret []byte) (key, id []byte)
	// lookup returns the key that id names, or nil.
	lookup func(r *ring, id []byte) *entry
	// first returns the key that seals.
	first func(r *ring) *entry
}

type ring struct {
	ringParts
	entries []*entry
}

type entry struct{ key, id []byte }

func soundRing() ringParts {
	return ringParts{
		check:  checkSecrets,
		derive: deriveKey,
		lookup: func(r *ring, id []byte) *entry {
			for _, e := range r.entries {
				if bytes.Equal(e.id, id) {
					return e
				}
			}
			return nil
		},
		first: func(r *ring) *entry { return r.entries[0] },
	}
}

func (p ringParts) open(secrets [][]byte) (*ring, error) {
	if len(secrets) == 0 {
		return nil, errors.New("the ring is empty")
	}
	if err := p.check(secrets); err != nil {
		return nil, err
	}
	r := &ring{ringParts: p}
	for _, s := range secrets {
		key, id := p.derive(bytes.Clone(s))
		r.entries = append(r.entries, &entry{key, id})
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

func deriveKey(secret []byte) (key, id []byte) {
	return lab.Derive(secret, "sealab/flawed key", 32), lab.Derive(secret, "sealab/flawed key-id", idSize)
}
