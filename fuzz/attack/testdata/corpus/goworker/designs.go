package main

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// A design is one worker. Parts that are nil default to the sound ones.
type design struct {
	claims string
	codec  bool // seal and unseal; otherwise mint and verify
	single bool // lacks the ability batch
	box    func(keys [][]byte) *box
	digest func(b codecs.Context) []byte
	valid  func(issued, expires, now int64) bool
	around func(w *instance) // wraps the calls of an instance
}

// A box authenticates payloads and encodes tokens.
type box struct {
	keys  [][]byte
	seal  func(key, plain []byte) []byte
	open  func(key, sealed []byte) ([]byte, bool)
	spell func(sealed []byte) string
	read  func(token string) ([]byte, error)
	each  func(keys [][]byte) [][]byte // returns the keys to try
}

func (d design) open(c codecs.Config) (*instance, error) {
	keys, err := checked(c.Secrets)
	if err != nil {
		return nil, err
	}
	make := d.box
	if make == nil {
		make = tagged
	}
	b := make(keys)
	w := &instance{mint: b.mint, verify: b.verify}
	if !d.codec {
		ttl := time.Duration(0)
		if c.TTL != nil {
			ttl = *c.TTL
		}
		d.claim(w, ttl.Microseconds())
	}
	if d.around != nil {
		d.around(w)
	}
	return w, nil
}

// claim adds issue time, expiry and context digest in front of the state.
func (d design) claim(w *instance, ttl int64) {
	mint, verify, sum, valid := w.mint, w.verify, d.digest, d.valid
	if sum == nil {
		sum = digest
	}
	if valid == nil {
		valid = func(issued, expires, now int64) bool { return now < expires && issued <= now+60e6 }
	}
	w.mint = func(q asked) ([]byte, error) {
		head := binary.BigEndian.AppendUint64(nil, uint64(q.now))
		head = binary.BigEndian.AppendUint64(head, uint64(q.now+ttl))
		q.in = slices.Concat(head, sum(q.b), q.in)
		return mint(q)
	}
	w.verify = func(q asked) ([]byte, error) {
		plain, err := verify(q)
		if err != nil {
			return nil, err
		}
		n := 16 + len(sum(q.b))
		if len(plain) < n {
			return nil, malformed
		}
		issued, expires := int64(binary.BigEndian.Uint64(plain)), int64(binary.BigEndian.Uint64(plain[8:]))
		if !valid(issued, expires, q.now) {
			return nil, expired
		}
		if !hmac.Equal(plain[16:n], sum(q.b)) {
			return nil, misbound
		}
		return plain[n:], nil
	}
}

func (b *box) mint(q asked) ([]byte, error) {
	return []byte(b.spell(b.seal(b.keys[0], q.in))), nil
}

func (b *box) verify(q asked) ([]byte, error) {
	sealed, err := b.read(string(q.in))
	if err != nil {
		return nil, err
	}
	for _, k := range b.each(b.keys) {
		if plain, ok := b.open(k, sealed); ok {
			return plain, nil
		}
	}
	return nil, unauthentic
}

func spelled(b *box) *box {
	b.spell = func(sealed []byte) string { return "go1." + text.EncodeToString(sealed) }
	b.read = func(token string) ([]byte, error) {
		rest, ok := strings.CutPrefix(token, "go1.")
		if !ok {
			return nil, malformed
		}
		return raw(rest)
	}
	b.each = func(keys [][]byte) [][]byte { return keys }
	return b
}

// withTag returns a box of plain bytes followed by a tag of n bytes.
func withTag(n int, tag func(key, plain []byte) []byte) func(keys [][]byte) *box {
	return func(keys [][]byte) *box {
		return spelled(&box{keys: keys,
			seal: func(key, plain []byte) []byte { return slices.Concat(plain, tag(key, plain)[:n]) },
			open: func(key, sealed []byte) ([]byte, bool) {
				if len(sealed) < n {
					return nil, false
				}
				plain := sealed[:len(sealed)-n]
				return plain, hmac.Equal(tag(key, plain)[:n], sealed[len(sealed)-n:])
			}})
	}
}

func tagged(keys [][]byte) *box {
	return withTag(32, func(key, plain []byte) []byte { return mac(key, plain) })(keys)
}

func gcm(key []byte) cipher.AEAD {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	a, err := cipher.NewGCM(b)
	if err != nil {
		panic(err)
	}
	return a
}

// withNonce returns a box that seals with AES-256-GCM under nonces of the given kind.
func withNonce(nonces func() func(plain []byte) []byte) func(keys [][]byte) *box {
	return func(keys [][]byte) *box {
		nonce := nonces()
		return spelled(&box{keys: keys,
			seal: func(key, plain []byte) []byte {
				n := nonce(plain)
				return gcm(key).Seal(n, n, plain, []byte("go1."))
			},
			open: func(key, sealed []byte) ([]byte, bool) {
				if len(sealed) < 28 {
					return nil, false
				}
				plain, err := gcm(key).Open(nil, sealed[:12], sealed[12:], []byte("go1."))
				return plain, err == nil
			}})
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func fresh() func([]byte) []byte { return func([]byte) []byte { return random(12) } }

// spelling returns a sound box with another text encoding.
func spelling(spell func([]byte) string, read func(string) ([]byte, error)) func(keys [][]byte) *box {
	return func(keys [][]byte) *box {
		b := tagged(keys)
		if spell != nil {
			b.spell = spell
		}
		b.read = read
		return b
	}
}

func trying(each func(keys [][]byte) [][]byte) func(keys [][]byte) *box {
	return func(keys [][]byte) *box {
		b := tagged(keys)
		b.each = each
		return b
	}
}

// remembering caches verifications under the key that name returns.
func remembering(name func(q asked) string) func(w *instance) {
	return func(w *instance) {
		cache, verify := map[string][]byte{}, w.verify
		w.verify = func(q asked) ([]byte, error) {
			if state, ok := cache[name(q)]; ok {
				return state, nil
			}
			state, err := verify(q)
			if err == nil {
				cache[name(q)] = state
			}
			return state, err
		}
	}
}

func hash32(b []byte) []byte {
	h := fnv.New32a()
	h.Write(b)
	return h.Sum(nil)
}

// changed returns the sound digest of a context to which change was applied.
func changed(change func(b *codecs.Context)) func(b codecs.Context) []byte {
	return func(b codecs.Context) []byte {
		change(&b)
		return digest(b)
	}
}

// blocks returns the CBC-MAC with AES and zero padding.
func blocks(key, plain []byte) []byte {
	c, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	sum := make([]byte, 16)
	for chunk := range slices.Chunk(plain, 16) {
		for i, x := range chunk {
			sum[i] ^= x
		}
		c.Encrypt(sum, sum)
	}
	return sum
}

func with(s *string, f func(string) string) *string {
	if s == nil {
		return nil
	}
	return new(f(*s))
}

// once accepts each token once: per handle, or once in the whole process.
func once(shared map[string]bool, handle bool) func(w *instance) {
	return func(w *instance) {
		used, verify := shared, w.verify
		if handle {
			used = map[string]bool{}
		}
		w.verify = func(q asked) ([]byte, error) {
			state, err := verify(q)
			if err == nil && used[string(q.in)] {
				return nil, expired
			}
			used[string(q.in)] = used[string(q.in)] || err == nil
			return state, err
		}
	}
}

// counted returns nonces that count up from a random 12-byte start.
func counted() func([]byte) []byte {
	n := new(big.Int).SetBytes(random(12))
	return func([]byte) []byte {
		n.Add(n, big.NewInt(1))
		return slices.Clone(n.FillBytes(make([]byte, 13))[1:])
	}
}

// masked XORs each token with a key stream that its own first bytes determine, so it hides
// nothing.
func masked(keys [][]byte) *box {
	b := tagged(keys)
	seal, open := b.seal, b.open
	mask := func(salt, in []byte) []byte {
		c, err := aes.NewCipher(salt)
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(in))
		cipher.NewCTR(c, salt).XORKeyStream(out, in)
		return out
	}
	b.seal = func(key, plain []byte) []byte {
		salt := random(16)
		return slices.Concat(salt, mask(salt, seal(key, slices.Concat(salt, plain))))
	}
	b.open = func(key, sealed []byte) ([]byte, bool) {
		if len(sealed) < 64 {
			return nil, false
		}
		plain, ok := open(key, mask(sealed[:16], sealed[16:]))
		if !ok || !bytes.Equal(plain[:16], sealed[:16]) {
			return nil, false
		}
		return plain[16:], true
	}
	return b
}
