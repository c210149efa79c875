package tokenfmt

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

// A Construction is a recognized way to make tokens from bodies under a known key.
type Construction struct {
	Name string
	Body []byte                   // body of the original token; the plaintext of an AEAD
	Seal func(body []byte) []byte // returns an authenticated token for another body
	// Retag returns tokens for a body with a tag by another function. It is nil for an AEAD.
	Retag func(m MAC, body []byte) [][]byte
	aead  *sealedSegment
}

// A MAC computes a tag from a key and a message.
type MAC struct {
	Name string
	Sum  func(key, message []byte) []byte
}

// HMACSHA256 is HMAC with SHA-256.
var HMACSHA256 = hmacOf("SHA-256", sha256.New)

var (
	hmacSHA512 = hmacOf("SHA-512", sha512.New)
	hmacSHA1   = hmacOf("SHA-1", sha1.New)
)

// MACs are the functions that can be recognized: HMAC, and hashes of key || message.
var MACs = []MAC{
	HMACSHA256, hmacSHA512, hmacOf("SHA-384", sha512.New384), hmacOf("SHA-512/256", sha512.New512_256),
	hmacSHA1, hmacOf("MD5", md5.New),
	prefixOf("SHA-256", sha256.New), prefixOf("SHA-512", sha512.New), prefixOf("SHA-1", sha1.New), prefixOf("MD5", md5.New),
}

func hmacOf(name string, h func() hash.Hash) MAC {
	return MAC{"HMAC-" + name, func(key, message []byte) []byte {
		m := hmac.New(h, key)
		m.Write(message)
		return m.Sum(nil)
	}}
}

func prefixOf(name string, h func() hash.Hash) MAC {
	return MAC{name + "(key || message)", func(key, message []byte) []byte {
		d := h()
		d.Write(key)
		d.Write(message)
		return d.Sum(nil)
	}}
}

// keyForms returns the keys that formats may derive from a secret: the secret, its SHA-256, its
// first 16 bytes, and the rest.
func keyForms(secret []byte) [][]byte {
	sum := sha256.Sum256(secret)
	return [][]byte{secret, sum[:], secret[:min(16, len(secret))], secret[min(16, len(secret)):]}
}

// Recognize determines how the token was made under secret. It reports false if the
// construction is unknown.
func (f Format) Recognize(secret []byte) (Construction, bool) {
	for _, n := range []int{32, 16, 20, 64, 48, 24, 12, 10, 8, 4} {
		for _, l := range f.Layouts(n) {
			if c, ok := l.recognize(secret); ok {
				return c, true
			}
		}
	}
	for _, i := range f.Encoded() {
		for form, key := range keyForms(secret) {
			if c, ok := f.recognizeAEAD(i, form, key); ok {
				return c, true
			}
		}
	}
	return Construction{}, false
}

func (l Layout) recognize(secret []byte) (Construction, bool) {
	for _, key := range keyForms(secret) {
		for _, m := range MACs {
			k := slices.IndexFunc(l.Messages(l.Body), func(message []byte) bool { return bytes.HasPrefix(m.Sum(key, message), l.Tag) })
			if k >= 0 {
				return l.construction(m, key, k), true
			}
		}
	}
	return Construction{}, false
}

// construction returns the construction whose tag covers message k of the body.
func (l Layout) construction(m MAC, key []byte, k int) Construction {
	n := len(l.Tag)
	return Construction{
		Name: m.Name, Body: l.Body,
		Seal: func(body []byte) []byte { return l.Build(body, m.Sum(key, l.Messages(body)[k])[:n]) },
		Retag: func(other MAC, body []byte) [][]byte {
			sum := other.Sum(key, l.Messages(body)[k])
			if len(sum) < n {
				return nil
			}
			return [][]byte{l.Build(body, sum[:n]), l.Build(body, sum)}
		},
	}
}

// knownCiphers are the AEADs that can be recognized.
var knownCiphers = []struct {
	name string
	new  func(key []byte) (cipher.AEAD, error)
}{
	{"AES-GCM", func(key []byte) (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	}},
	{"ChaCha20-Poly1305", chacha20poly1305.New},
	{"XChaCha20-Poly1305", chacha20poly1305.NewX},
}

// A sealedSegment is a segment that was recognized as head, nonce, ciphertext and tag.
type sealedSegment struct {
	format     Format
	segment    int
	form       int // index in keyForms
	cipher     int // index in knownCiphers
	key        []byte
	head       []byte // before the nonce
	nonce      []byte
	additional []byte
}

// recognizeAEAD tries to open segment i as a head of up to 16 bytes, nonce, ciphertext and tag,
// with the usual choices of additional data.
func (f Format) recognizeAEAD(i, form int, key []byte) (Construction, bool) {
	raw := f.Segments[i].Bytes
	for number, c := range knownCiphers {
		a, err := c.new(key)
		if err != nil {
			continue // the cipher needs a key of another length
		}
		for head := 0; head <= 16 && head+a.NonceSize()+a.Overhead() <= len(raw); head++ {
			sealed := head + a.NonceSize()
			nonce := raw[head:sealed]
			for _, data := range f.additional(i, raw[:head]) {
				body, err := a.Open(nil, nonce, raw[sealed:], data)
				if err != nil {
					continue
				}
				seal := func(body []byte) []byte { return f.With(i, a.Seal(slices.Clone(raw[:sealed]), nonce, body, data)) }
				parts := &sealedSegment{f, i, form, number, key, raw[:head], nonce, data}
				return Construction{Name: c.name, Body: body, Seal: seal, aead: parts}, true
			}
		}
	}
	return Construction{}, false
}
