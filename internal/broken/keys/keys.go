// Package keys holds the negative controls of keys: codecs that take weak keys, use a key for two purposes
// or choose the wrong key of a ring.
package keys

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// Weak returns controls that do not check the keys of a ring properly.
func Weak() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewRing("key-of-any-length", "a secret of any length is taken", []codecs.Property{codecs.StrongKeys}, "KEY-04",
			func(p *skeleton.RingParts) { p.Check = func([][]byte) error { return nil } }),
		skeleton.NewRing("key-twice-behind", "of a ring the first eight keys are compared", []codecs.Property{codecs.StrongKeys}, "KEY-03", func(p *skeleton.RingParts) {
			check := p.Check
			p.Check = func(secrets [][]byte) error {
				return errors.Join(longEnough(secrets), check(secrets[:min(len(secrets), 8)]))
			}
		}),
		skeleton.NewRing("key-of-mean-length", "the lengths of secrets are added up before they are compared", []codecs.Property{codecs.StrongKeys}, "KEY-04", func(p *skeleton.RingParts) {
			p.Check = func(secrets [][]byte) error {
				joined := bytes.Join(secrets, nil)
				return longEnough([][]byte{joined[:len(joined)/len(secrets)]})
			}
		}),
		skeleton.NewRing("key-twice", "a ring may hold a key twice", []codecs.Property{codecs.StrongKeys}, "KEY-03",
			func(p *skeleton.RingParts) { p.Check = longEnough }),
	}
}

// longEnough checks only the lengths of secrets.
func longEnough(secrets [][]byte) error {
	for _, s := range secrets {
		if len(s) < codecs.MinSecret {
			return fmt.Errorf("a secret has %d bytes", len(s))
		}
	}
	return nil
}

// Separation returns controls that share keys between designs or secrets.
func Separation() []skeleton.Control {
	reduced := func(name, doc, attack string, reduce func(secret []byte) []byte) skeleton.Control {
		return skeleton.NewRing(name, doc, []codecs.Property{codecs.KeySeparation}, attack, func(p *skeleton.RingParts) {
			p.Derive = func(secret []byte) (key, id []byte) { return skeleton.DeriveKey(reduce(secret)) }
		})
	}
	return []skeleton.Control{
		reduced("equivalent-keys", "the secret is an HMAC key as it stands", "KEY-05", func(secret []byte) []byte {
			if len(secret) > sha256.BlockSize {
				secret = skeleton.Sum256(secret)
			}
			return append(bytes.Clone(secret), make([]byte, sha256.BlockSize-len(secret))...)
		}),
		reduced("key-of-hash-code", "keys are derived from the hash code of the secret", "KEY-05", func(secret []byte) []byte {
			var h uint32
			for _, b := range secret {
				h = 31*h + uint32(b)
			}
			return binary.BigEndian.AppendUint32(nil, h)
		}),
		reduced("key-of-checksum", "keys are derived from CRC-32 of the secret", "KEY-05", func(secret []byte) []byte {
			return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(secret))
		}),
		reduced("key-as-number", "the secret is read as a number", "KEY-05", func(secret []byte) []byte { return new(big.Int).SetBytes(secret).Bytes() }),
		reduced("key-ends", "the first and the last 16 bytes of the secret are the key", "KEY-06", func(secret []byte) []byte { return slices.Concat(secret[:16], secret[len(secret)-16:]) }),
		reduced("key-folded", "the secret is folded to 32 bytes by exclusive or", "KEY-06", func(secret []byte) []byte {
			folded := make([]byte, codecs.MinSecret)
			for part := range slices.Chunk(secret, len(folded)) {
				subtle.XORBytes(folded, folded, part)
			}
			return folded
		}),
		reduced("key-cut", "the first 32 bytes of the secret are the key", "KEY-06", func(secret []byte) []byte { return secret[:codecs.MinSecret] }),
		reduced("key-trimmed", "white space around the secret is trimmed", "KEY-06", bytes.TrimSpace),
		reduced("key-trimmed-text", "white space around the secret is trimmed if it is text", "KEY-06", func(secret []byte) []byte {
			if utf8.Valid(secret) {
				return bytes.TrimSpace(secret)
			}
			return secret
		}),
		reduced("key-as-text", "the secret is made valid UTF-8", "KEY-06", func(secret []byte) []byte {
			return []byte(strings.ToValidUTF8(string(secret), "\ufffd"))
		}),
		skeleton.WithDisclaimer(skeleton.NewSigner("raw-secret", "the secret is the key of the tag", []codecs.Property{codecs.KeySeparation}, []string{"KEY-16"},
			func(p *skeleton.SignerParts) { p.Derive = skeleton.RawKey }), codecs.KeySeparation, "the secret is the key, as it stands"),
		skeleton.NewSigner("copied", "label and prefix were copied from another design", []codecs.Property{codecs.KeySeparation}, []string{"KEY-08"}, copyCatalogKeys),
	}
}

// Rotation returns controls that choose the wrong key.
func Rotation() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewRing("ring-index", "the token carries the place of its key in the ring", []codecs.Property{codecs.Rotation}, "KEY-07", byIndex),
		skeleton.NewRing("last-seals", "the last key of the ring seals", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *skeleton.RingParts) {
				p.First = func(r *skeleton.Ring) *skeleton.Entry { return r.Entries[len(r.Entries)-1] }
			}),
		skeleton.NewRing("second-of-three-seals", "of a ring of three keys the second seals", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *skeleton.RingParts) {
				p.First = func(r *skeleton.Ring) *skeleton.Entry { return r.Entries[map[bool]int{true: 1}[len(r.Entries) == 3]] }
			}),
		skeleton.NewRing("ninth-seals", "the last name in the order of texts seals, which of ten keys or more is k9", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *skeleton.RingParts) {
				p.First = func(r *skeleton.Ring) *skeleton.Entry {
					return r.Entries[map[bool]int{true: len(r.Entries) - 9}[len(r.Entries) >= 10]]
				}
			}),
		skeleton.NewRing("longest-seals", "the longest key of the ring seals", []codecs.Property{codecs.Rotation}, "KEY-07", longestSeals),
		skeleton.NewRing("first-only", "only the first key unseals", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(1)),
		skeleton.NewRing("first-eight", "only the first eight keys unseal", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(8)),
		skeleton.NewRing("first-64", "only the first 64 keys unseal", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(64)),
		skeleton.NewSigner("never-removed", "keys that were once in a ring are remembered", []codecs.Property{codecs.Rotation, codecs.Integrity}, []string{"KEY-07", "KEY-15"},
			func(p *skeleton.SignerParts) { rememberKeys(&p.RingParts) }),
		skeleton.NewRing("missing-key", "a key id that is not known stands for a key of zeros", []codecs.Property{codecs.Integrity}, "KEY-02", zeroKeyIfMissing),
		skeleton.NewSealer("missing-cipher-key", "a key id that is not known stands for a key of zeros", []codecs.Property{codecs.Integrity}, []string{"KEY-02"},
			func(p *skeleton.SealerParts) { zeroKeyIfMissing(&p.RingParts) }),
		skeleton.NewSealer("inherited-states", "states are members of an object of JavaScript, which has members of its own", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, inheritedStates),
		skeleton.NewRing("default-key", "a built-in key unseals as well", []codecs.Property{codecs.Integrity}, "KEY-12", builtIn),
		skeleton.NewRing("key-id-of-secret", "keys are kept in a map under the first bytes of their secrets", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *skeleton.RingParts) {
				p.Derive = func(secret []byte) (key, id []byte) {
					key, _ = skeleton.DeriveKey(secret)
					return key, bytes.Clone(secret[:skeleton.IDSize])
				}
			}),
		skeleton.NewRing("short-key-id", "a key id has four bits, and the ring does not check that they differ", []codecs.Property{codecs.Rotation}, "KEY-14",
			func(p *skeleton.RingParts) {
				p.Derive = func(secret []byte) (key, id []byte) {
					key, id = skeleton.DeriveKey(secret)
					return key, []byte{id[0] & 15, 0, 0, 0}
				}
			}),
	}
}

// openFirstKeys returns the mistake that only the first n keys of a ring unseal.
func openFirstKeys(n int) func(*skeleton.RingParts) {
	return func(p *skeleton.RingParts) {
		found := p.Lookup
		p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
			if e := found(r, id); slices.Contains(r.Entries[:min(n, len(r.Entries))], e) {
				return e
			}
			return nil
		}
	}
}

// longestSeals seals with the longest secret. It pads each key with zeros by the secret's excess length,
// which does not change HMAC.
func longestSeals(p *skeleton.RingParts) {
	derive := p.Derive
	p.Derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		return append(key, make([]byte, max(0, len(secret)-len(key)))...), id
	}
	p.First = func(r *skeleton.Ring) *skeleton.Entry {
		return slices.MaxFunc(r.Entries, func(a, b *skeleton.Entry) int { return len(a.Key) - len(b.Key) })
	}
}

// zeroKeyIfMissing uses an all-zero key for an unknown key ID, as a lookup with a zero value would.
func zeroKeyIfMissing(p *skeleton.RingParts) {
	p.OrElse(func(_ *skeleton.Ring, id []byte) *skeleton.Entry {
		return &skeleton.Entry{Key: make([]byte, codecs.MinSecret), ID: id}
	})
}

// builtIn adds a key that is the same in every program.
func builtIn(p *skeleton.RingParts) {
	p.OrElse(func(_ *skeleton.Ring, id []byte) *skeleton.Entry {
		key, known := skeleton.DeriveKey(make([]byte, codecs.MinSecret))
		if bytes.Equal(id, known) {
			return &skeleton.Entry{Key: key, ID: known}
		}
		return nil
	})
}

// copyCatalogKeys uses the key derivation and prefix of the catalog's signed design.
func copyCatalogKeys(p *skeleton.SignerParts) {
	const label, prefix = "sealab/hmac-sha256/v1", "sh1."
	p.Derive = func(secret []byte) (key, id []byte) {
		return lab.Derive(secret, label+" key", 32), lab.Derive(secret, label+" key-id", skeleton.IDSize)
	}
	p.Message = func(id, payload []byte) []byte { return slices.Concat([]byte(prefix), id, payload) }
}

// byIndex uses the index of the key in the ring as its key ID.
func byIndex(p *skeleton.RingParts) {
	place := func(i int) []byte { return []byte{0, 0, 0, byte(i)} }
	p.First = func(r *skeleton.Ring) *skeleton.Entry { return &skeleton.Entry{Key: r.Entries[0].Key, ID: place(0)} }
	p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
		for i, e := range r.Entries {
			if bytes.Equal(id, place(i)) {
				return &skeleton.Entry{Key: e.Key, ID: id}
			}
		}
		return nil
	}
}

// rememberKeys keeps the keys of all rings that were ever opened.
func rememberKeys(p *skeleton.RingParts) {
	var known keyMemory
	derive := p.Derive
	p.Derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		known.add(&skeleton.Entry{Key: key, ID: id})
		return key, id
	}
	p.OrElse(func(_ *skeleton.Ring, id []byte) *skeleton.Entry { return known.find(id) })
}

// inheritedStates opens a key ID that names an inherited member of a JavaScript object. The state is then
// empty.
func inheritedStates(p *skeleton.SealerParts) {
	const member = "constructor"
	lookup, unframe, open := p.Lookup, p.Unframe, p.Decrypt
	p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
		if string(id) == member {
			return r.Entries[0]
		}
		return lookup(r, id)
	}
	p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		if text == member {
			return []byte(text), nil, []byte(text), true
		}
		return unframe(text, nonceSize)
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		if string(sealed) == member {
			return nil, nil
		}
		return open(key, nonce, sealed, data)
	}
}

// A keyMemory is a list of keys that outlives their rings.
type keyMemory struct {
	mu      sync.Mutex
	entries []*skeleton.Entry
}

func (m *keyMemory) add(e *skeleton.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, e)
}

func (m *keyMemory) find(id []byte) *skeleton.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if bytes.Equal(e.ID, id) {
			return e
		}
	}
	return nil
}
