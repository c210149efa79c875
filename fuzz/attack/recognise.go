package attack

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"slices"

	"golang.org/x/crypto/chacha20poly1305"
)

// The laboratory holds the keys. Where a format uses the secret as it stands, or
// its hash, with a known primitive, the laboratory can find that out from one
// token and then make tokens of its own: what lies behind the tag is reached in
// subjects that offer no way to it.

// A format is a recognised way to make tokens from bodies.
type format struct {
	name string
	body []byte                            // of the token it was recognised from
	seal func(body []byte) []byte          // a token for another body, authenticated
	tags func(h mac, body []byte) [][]byte // the same with another function; nil for AEADs
}

// A mac is a way to make a tag from key and message.
type mac struct {
	name string
	sum  func(key, message []byte) []byte
}

func hmacOf(name string, h func() hash.Hash) mac {
	return mac{"HMAC-" + name, func(key, message []byte) []byte {
		m := hmac.New(h, key)
		m.Write(message)
		return m.Sum(nil)
	}}
}

func prefixOf(name string, h func() hash.Hash) mac {
	return mac{name + "(key || message)", func(key, message []byte) []byte {
		d := h()
		d.Write(key)
		d.Write(message)
		return d.Sum(nil)
	}}
}

var macs = []mac{
	hmacOf("SHA-256", sha256.New), hmacOf("SHA-512", sha512.New), hmacOf("SHA-384", sha512.New384), hmacOf("SHA-512/256", sha512.New512_256),
	hmacOf("SHA-1", sha1.New), hmacOf("MD5", md5.New),
	prefixOf("SHA-256", sha256.New), prefixOf("SHA-512", sha512.New), prefixOf("SHA-1", sha1.New), prefixOf("MD5", md5.New),
}

// keyForms are the ways in which a secret is known to be used as a key.
func keyForms(secret []byte) [][]byte {
	sum := sha256.Sum256(secret)
	return [][]byte{secret, sum[:], secret[:min(16, len(secret))], secret[min(16, len(secret)):]}
}

// recognise finds how the token was made under secret, or reports false.
func (s shape) recognise(secret []byte) (format, bool) {
	for _, n := range []int{32, 16, 20, 64, 48, 24, 12, 10, 8, 4} {
		for _, l := range s.tagged(n) {
			if f, ok := l.recognise(secret); ok {
				return f, true
			}
		}
	}
	for _, i := range s.coded() {
		for _, key := range keyForms(secret) {
			if f, ok := s.recogniseAEAD(i, key); ok {
				return f, true
			}
		}
	}
	return format{}, false
}

func (l tagged) recognise(secret []byte) (format, bool) {
	for _, key := range keyForms(secret) {
		for _, m := range macs {
			k := slices.IndexFunc(l.messages(l.body), func(message []byte) bool { return bytes.HasPrefix(m.sum(key, message), l.tag) })
			if k >= 0 {
				return l.format(m, key, k), true
			}
		}
	}
	return format{}, false
}

// format returns the format whose tag is that of the k-th message of a body.
func (l tagged) format(m mac, key []byte, k int) format {
	n := len(l.tag)
	return format{
		name: m.name, body: l.body,
		seal: func(body []byte) []byte { return l.build(body, m.sum(key, l.messages(body)[k])[:n]) },
		tags: func(h mac, body []byte) [][]byte {
			sum := h.sum(key, l.messages(body)[k])
			if len(sum) < n {
				return nil
			}
			return [][]byte{l.build(body, sum[:n]), l.build(body, sum)}
		},
	}
}

// aeads are the ciphers under a key; those that do not take its length are left out.
func aeads(key []byte) []cipher.AEAD {
	var all []cipher.AEAD
	if block, err := aes.NewCipher(key); err == nil {
		if gcm, err := cipher.NewGCM(block); err == nil {
			all = append(all, gcm)
		}
	}
	for _, fresh := range []func([]byte) (cipher.AEAD, error){chacha20poly1305.New, chacha20poly1305.NewX} {
		if a, err := fresh(key); err == nil {
			all = append(all, a)
		}
	}
	return all
}

// recogniseAEAD tries piece i as head, nonce, ciphertext and tag.
func (s shape) recogniseAEAD(i int, key []byte) (format, bool) {
	raw, text := s.pieces[i].raw, s.textUpTo(i)
	word := bytes.TrimRight(text, ".:|~-_")
	for _, a := range aeads(key) {
		for head := 0; head <= 16 && head+a.NonceSize()+a.Overhead() <= len(raw); head++ {
			sealed := head + a.NonceSize() // where it begins
			nonce := raw[head:sealed]
			for _, data := range [][]byte{nil, text, word, raw[:head], slices.Concat(text, raw[:head]), slices.Concat(word, raw[:head])} {
				if body, err := a.Open(nil, nonce, raw[sealed:], data); err == nil {
					seal := func(body []byte) []byte { return s.with(i, a.Seal(slices.Clone(raw[:sealed]), nonce, body, data)) }
					return format{name: "an AEAD", body: body, seal: seal}, true
				}
			}
		}
	}
	return format{}, false
}
