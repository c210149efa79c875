// Package branca is the design branca-0xba: Branca tokens (github.com/tuupola/branca-spec
// c8b0ba5, version 0xBA), as the libraries of npm, PyPI and crates mint them.
//
// Layout, with a state of m bytes:
//
//	token = base62(0xBA || time[4] || nonce[24] || ciphertext[m] || tag[16])
//	time  = seconds of Unix time of minting, big endian
//	ciphertext || tag = XChaCha20-Poly1305(secret, nonce, state), associated data:
//	        all before it
//
// Base 62 writes all bytes as one number, most significant digit first, with
// the digits 0 to 9, A to Z and a to z. The number starts with 0xBA, so a text
// with a leading zero is invalid and each token has exactly one text.
//
// The secret is the key itself and has exactly 32 bytes. A token is refused
// from the second after time + TTL on, or if the sum has more than 32 bits. The
// token does not hold the time to live; the reader sets it.
//
// Limits: 2^80 tokens per key (birthday bound of the nonce). A token has at
// most 128 KiB and a state 96,000 bytes: decoding base 62 takes more than
// linear time and happens before authentication. Times are from 1970 to 2106.
//
// Limitations: the time of minting is readable and may lie in the future; no
// binding to user or request; one key and no key ID; no commitment to the key;
// no single use.
package branca

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/internal/lab"
)

const (
	version   = 0xba
	timeSize  = 4
	nonceSize = chacha20poly1305.NonceSizeX
	headSize  = 1 + timeSize + nonceSize
	tagSize   = chacha20poly1305.Overhead
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errExpired     = codecs.Reject(codecs.Expired, "expired")
)

var layout = framework.Stamped{Encoding: base62{}, TimeSize: timeSize, NonceSize: nonceSize, TagSize: tagSize}

// A format is Branca under one key.
type format struct {
	aead cipher.AEAD
	ttl  time.Duration
}

func (f *format) SeedSize() int { return nonceSize }

// Mint implements framework.Format.
func (f *format) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	now := c.Now.Unix()
	if now < 0 || f.expires(now) > math.MaxUint32 || len(state) > maxState {
		return dst, codecs.ErrUnsupported
	}
	first := edit.Give(lab.StepPrefix, []byte{version})
	at := edit.Give(lab.StepTime, binary.BigEndian.AppendUint32(nil, uint32(now)))
	nonce := edit.Apply(lab.StepNonce, seed)
	if len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	aad := edit.Give(lab.StepAAD, slices.Concat(first, at, nonce))
	sealed := f.aead.Seal(nil, nonce, edit.Apply(lab.StepClaims, state), aad)
	n := len(sealed) - tagSize
	return framework.Join(dst, edit, layout.Part(first, at, nonce, sealed[:n], sealed[n:])), nil
}

// Open implements framework.Format.
func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	raw, err := parse(token)
	if err != nil {
		return dst, errMalformed
	}
	out, err := f.aead.Open(dst, raw[1+timeSize:headSize], raw[headSize:], raw[:headSize])
	if err != nil {
		return dst, errUnauthentic
	}
	expires := f.expires(int64(binary.BigEndian.Uint32(raw[1:])))
	if expires > math.MaxUint32 || expires < float64(c.Now.Unix()) {
		clear(out[len(dst):])
		return dst, errExpired
	}
	return out, nil
}

// expires returns the time until which a token is valid, in Unix seconds. It
// may have a fraction.
func (f *format) expires(minted int64) float64 { return float64(minted) + f.ttl.Seconds() }

// parse decodes a token and checks its length and version.
func parse(token []byte) ([]byte, error) {
	raw, err := base62{}.AppendDecode(nil, token)
	if err != nil || len(raw) < headSize+tagSize || raw[0] != version {
		return nil, errors.New("not a Branca token")
	}
	return raw, nil
}

// inspect splits a token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	raw, err := parse(token)
	if err != nil {
		return nil, err
	}
	return layout.Fields(raw), nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "branca-0xba",
	Doc:     "Branca: XChaCha20-Poly1305 in base 62 with the time of minting",
	Spec:    "github.com/tuupola/branca-spec, version 0xBA; crate branca 0.10.2",
	MaxKeys: 1, KeySize: chacha20poly1305.KeySize,
	Format: "branca-0xba",
	Hooks:  &lab.Hooks{Inspect: inspect, FewVectors: true, Allocates: "base 62 is computed with numbers of package big"},
	NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, _ map[string]string) (framework.Format, error) {
		aead, err := chacha20poly1305.NewX(secret)
		return &format{aead, ttl}, err
	}),
	Guarantees: codecs.Always(slices.Concat(framework.Unbound("the format does not bind the request"),
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.UniformRefusal, codecs.ByteExact, codecs.Inert, codecs.PrivateKeys),
		codecs.HoldsBecause(codecs.Total, "tokens of at most 128 KiB, because decoding base 62 takes more than linear time"),
		guarantee.ExactKey32,
		codecs.HoldsBecause(codecs.SteadyTiming, "the time of decoding base 62 depends on the token alone"),
		guarantee.Nonce192,
		codecs.Disclaims(codecs.Expiry, "ages are whole seconds: a token is still accepted during the second in which it expires; a token from the future is accepted"),
		guarantee.Poly1305TwoKeys, guarantee.RepeatedStream, guarantee.OneKeyNoID,
		guarantee.KeyItself, guarantee.Symmetric, guarantee.Stateless,
	)),
}
