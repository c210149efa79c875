package broken

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
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/lab"
)

// ringControl returns a signer whose ring has a mistake.
func ringControl(name, doc string, broken []codecs.Property, attack string, mistake func(*ringParts)) Control {
	return aSigner(name, doc, broken, []string{attack}, func(p *signerParts) { mistake(&p.ringParts) })
}

// weakKeyControls returns controls that do not check the keys of a ring properly.
func weakKeyControls() []Control {
	return []Control{
		ringControl("key-of-any-length", "a secret of any length is taken", []codecs.Property{codecs.StrongKeys}, "KEY-04",
			func(p *ringParts) { p.check = func([][]byte) error { return nil } }),
		ringControl("key-twice-behind", "of a ring the first eight keys are compared", []codecs.Property{codecs.StrongKeys}, "KEY-03", func(p *ringParts) {
			check := p.check
			p.check = func(secrets [][]byte) error {
				return errors.Join(longEnough(secrets), check(secrets[:min(len(secrets), 8)]))
			}
		}),
		ringControl("key-of-mean-length", "the lengths of secrets are added up before they are compared", []codecs.Property{codecs.StrongKeys}, "KEY-04", func(p *ringParts) {
			p.check = func(secrets [][]byte) error {
				joined := bytes.Join(secrets, nil)
				return longEnough([][]byte{joined[:len(joined)/len(secrets)]})
			}
		}),
		ringControl("key-twice", "a ring may hold a key twice", []codecs.Property{codecs.StrongKeys}, "KEY-03",
			func(p *ringParts) { p.check = longEnough }),
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

// keySeparationControls returns controls that share keys between designs or secrets.
func keySeparationControls() []Control {
	reduced := func(name, doc, attack string, reduce func(secret []byte) []byte) Control {
		return ringControl(name, doc, []codecs.Property{codecs.KeySeparation}, attack, func(p *ringParts) {
			p.derive = func(secret []byte) (key, id []byte) { return deriveKey(reduce(secret)) }
		})
	}
	return []Control{
		reduced("equivalent-keys", "the secret is an HMAC key as it stands", "KEY-05", func(secret []byte) []byte {
			if len(secret) > sha256.BlockSize {
				secret = sum256(secret)
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
		withDisclaimer(aSigner("raw-secret", "the secret is the key of the tag", []codecs.Property{codecs.KeySeparation}, []string{"KEY-16"},
			func(p *signerParts) { p.derive = rawKey }), codecs.KeySeparation, "the secret is the key, as it stands"),
		aSigner("copied", "label and prefix were copied from another design", []codecs.Property{codecs.KeySeparation}, []string{"KEY-08"}, copyCatalogKeys),
	}
}

// rotationControls returns controls that choose the wrong key.
func rotationControls() []Control {
	return []Control{
		ringControl("ring-index", "the token carries the place of its key in the ring", []codecs.Property{codecs.Rotation}, "KEY-07", byIndex),
		ringControl("last-seals", "the last key of the ring seals", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *ringParts) { p.first = func(r *ring) *entry { return r.entries[len(r.entries)-1] } }),
		ringControl("second-of-three-seals", "of a ring of three keys the second seals", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *ringParts) {
				p.first = func(r *ring) *entry { return r.entries[map[bool]int{true: 1}[len(r.entries) == 3]] }
			}),
		ringControl("longest-seals", "the longest key of the ring seals", []codecs.Property{codecs.Rotation}, "KEY-07", longestSeals),
		ringControl("first-only", "only the first key unseals", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(1)),
		ringControl("first-eight", "only the first eight keys unseal", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(8)),
		ringControl("first-64", "only the first 64 keys unseal", []codecs.Property{codecs.Rotation}, "KEY-07", openFirstKeys(64)),
		aSigner("never-removed", "keys that were once in a ring are remembered", []codecs.Property{codecs.Rotation, codecs.Integrity}, []string{"KEY-07", "KEY-15"},
			func(p *signerParts) { rememberKeys(&p.ringParts) }),
		ringControl("missing-key", "a key id that is not known stands for a key of zeros", []codecs.Property{codecs.Integrity}, "KEY-02", func(p *ringParts) { zeroKeyIfMissing(p) }),
		aSealer("missing-cipher-key", "a key id that is not known stands for a key of zeros", []codecs.Property{codecs.Integrity}, []string{"KEY-02"},
			func(p *sealerParts) { zeroKeyIfMissing(&p.ringParts) }),
		aSealer("inherited-states", "states are members of an object of JavaScript, which has members of its own", []codecs.Property{codecs.Integrity}, []string{"KEY-02"}, inheritedStates),
		ringControl("default-key", "a built-in key unseals as well", []codecs.Property{codecs.Integrity}, "KEY-12", builtIn),
		ringControl("key-id-of-secret", "keys are kept in a map under the first bytes of their secrets", []codecs.Property{codecs.Rotation}, "KEY-07",
			func(p *ringParts) {
				p.derive = func(secret []byte) (key, id []byte) {
					key, _ = deriveKey(secret)
					return key, bytes.Clone(secret[:idSize])
				}
			}),
		ringControl("short-key-id", "a key id has four bits, and the ring does not check that they differ", []codecs.Property{codecs.Rotation}, "KEY-14",
			func(p *ringParts) {
				p.derive = func(secret []byte) (key, id []byte) {
					key, id = deriveKey(secret)
					return key, []byte{id[0] & 15, 0, 0, 0}
				}
			}),
	}
}

// openFirstKeys returns the mistake that only the first n keys of a ring unseal.
func openFirstKeys(n int) func(*ringParts) {
	return func(p *ringParts) {
		found := p.lookup
		p.lookup = func(r *ring, id []byte) *entry {
			if e := found(r, id); slices.Contains(r.entries[:min(n, len(r.entries))], e) {
				return e
			}
			return nil
		}
	}
}

// longestSeals seals with the longest secret. It pads each key with zeros by the secret's excess length,
// which does not change HMAC.
func longestSeals(p *ringParts) {
	derive := p.derive
	p.derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		return append(key, make([]byte, max(0, len(secret)-len(key)))...), id
	}
	p.first = func(r *ring) *entry {
		return slices.MaxFunc(r.entries, func(a, b *entry) int { return len(a.key) - len(b.key) })
	}
}

// zeroKeyIfMissing uses an all-zero key for an unknown key ID, as a lookup with a zero value would.
func zeroKeyIfMissing(p *ringParts) {
	found := p.lookup
	p.lookup = func(r *ring, id []byte) *entry {
		if e := found(r, id); e != nil {
			return e
		}
		return &entry{make([]byte, codecs.MinSecret), id}
	}
}

// builtIn adds a key that is the same in every program.
func builtIn(p *ringParts) {
	found := p.lookup
	p.lookup = func(r *ring, id []byte) *entry {
		if e := found(r, id); e != nil {
			return e
		}
		key, known := deriveKey(make([]byte, codecs.MinSecret))
		if bytes.Equal(id, known) {
			return &entry{key, known}
		}
		return nil
	}
}

// copyCatalogKeys uses the key derivation and prefix of the catalog's signed design.
func copyCatalogKeys(p *signerParts) {
	const label, prefix = "sealab/hmac-sha256/v1", "sh1."
	p.derive = func(secret []byte) (key, id []byte) {
		return lab.Derive(secret, label+" key", 32), lab.Derive(secret, label+" key-id", idSize)
	}
	p.message = func(id, payload []byte) []byte { return slices.Concat([]byte(prefix), id, payload) }
}

// byIndex uses the index of the key in the ring as its key ID.
func byIndex(p *ringParts) {
	place := func(i int) []byte { return []byte{0, 0, 0, byte(i)} }
	p.first = func(r *ring) *entry { return &entry{r.entries[0].key, place(0)} }
	p.lookup = func(r *ring, id []byte) *entry {
		for i, e := range r.entries {
			if bytes.Equal(id, place(i)) {
				return &entry{e.key, id}
			}
		}
		return nil
	}
}

// rememberKeys keeps the keys of all rings that were ever opened.
func rememberKeys(p *ringParts) {
	var known keyMemory
	derive, found := p.derive, p.lookup
	p.derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		known.add(&entry{key, id})
		return key, id
	}
	p.lookup = func(r *ring, id []byte) *entry {
		if e := found(r, id); e != nil {
			return e
		}
		return known.find(id)
	}
}

// idSize is the length of a key ID in bytes.
const idSize = 4

// ringParts are the parts of a skeleton that handle secrets.
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

// inheritedStates opens a key ID that names an inherited member of a JavaScript object. The state is then
// empty.
func inheritedStates(p *sealerParts) {
	const member = "constructor"
	lookup, unframe, open := p.lookup, p.unframe, p.open
	p.lookup = func(r *ring, id []byte) *entry {
		if string(id) == member {
			return r.entries[0]
		}
		return lookup(r, id)
	}
	p.unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		if text == member {
			return []byte(text), nil, []byte(text), true
		}
		return unframe(text, nonceSize)
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		if string(sealed) == member {
			return nil, nil
		}
		return open(key, nonce, sealed, data)
	}
}
