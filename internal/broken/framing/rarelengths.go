package framing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/bits"
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// RareLengths returns controls whose mistake shows at one length of a state, in long tokens, or in
// one bit.
func RareLengths() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSigner("one-length-unsigned", "of a message of a multiple of 256 bytes the last 16 are not under the tag", []codecs.Property{codecs.Integrity}, []string{"FRM-11"}, func(p *skeleton.SignerParts) {
			p.MAC = func(key, message []byte) []byte {
				if len(message)%256 == 0 {
					message = message[:len(message)-16]
				}
				return skeleton.HMAC(key, message)
			}
			p.Also = p.MAC
		}),
		skeleton.NewSigner("third-key-unsigned", "the end of a tag is not compared if its key is the third of a ring or a later one", []codecs.Property{codecs.Integrity}, []string{"FRM-11"}, laterKeysUnsigned),
		skeleton.NewSigner("one-length-cut", "a payload of 203 bytes loses its last", []codecs.Property{codecs.ByteExact}, []string{"PAY-03"}, func(p *skeleton.SignerParts) {
			p.Carried = func(payload []byte) []byte {
				if len(payload) == 203 {
					return payload[:202]
				}
				return payload
			}
		}),
		skeleton.NewSealer("one-length-nonce", "payloads of 203 bytes are sealed under one nonce", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, func(p *skeleton.SealerParts) {
			p.Nonce = func(_ uint64, _, payload []byte) []byte {
				if len(payload) == 203 {
					return make([]byte, skeleton.GCMNonce)
				}
				return skeleton.RandomBytes(skeleton.GCMNonce)
			}
		}),
		skeleton.NewSealer("long-nonce-of-payload", "the nonce of a payload over 4 KiB is a digest of it", []codecs.Property{codecs.Confidentiality}, []string{"NON-03", "PAY-07"}, func(p *skeleton.SealerParts) {
			p.Nonce = func(_ uint64, key, payload []byte) []byte {
				if len(payload) > 1<<12 {
					return skeleton.HMAC(key, payload)[:skeleton.GCMNonce]
				}
				return skeleton.RandomBytes(skeleton.GCMNonce)
			}
		}),
		skeleton.NewSealer("parity-in-nonce", "one bit of the nonce is the parity of the payload", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"}, func(p *skeleton.SealerParts) {
			p.Nonce = func(_ uint64, _, payload []byte) []byte {
				ones := 0
				for _, b := range payload {
					ones += bits.OnesCount8(b)
				}
				nonce := skeleton.RandomBytes(skeleton.GCMNonce)
				nonce[5] = nonce[5]&^1 | byte(ones&1)
				return nonce
			}
		}),
		skeleton.NewSigner("lenient-if-long", "a token over 1000 characters is read by a lenient decoder", []codecs.Property{codecs.Canonical}, []string{"ENC-01", "ENC-04"}, func(p *skeleton.SignerParts) {
			p.Decode = func(text string) ([]byte, bool) {
				if len(text) > 1000 {
					raw, err := base64.RawURLEncoding.DecodeString(text)
					return raw, err == nil
				}
				return skeleton.DecodeCanonical(text)
			}
		}),
		skeleton.WithClaim(skeleton.NewSigner("derived-key-id", "the key ID is derived from the secret and nothing else", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(*skeleton.SignerParts) {}), codecs.PrivateKeys),
		skeleton.WithClaim(skeleton.NewSigner("key-id-shows-key", "the key ID is the first bytes of the secret", []codecs.Property{codecs.PrivateKeys, codecs.Rotation}, []string{"KEY-17"}, func(p *skeleton.SignerParts) {
			p.Derive = func(secret []byte) (key, id []byte) {
				key, _ = skeleton.DeriveKey(secret)
				return key, secret[:skeleton.IDSize]
			}
		}), codecs.PrivateKeys),
		skeleton.NewSigner("reason-derived-key", "the reason of a refusal holds the key of tags", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"}, func(p *skeleton.SignerParts) {
			p.Refuse = func(e *skeleton.Entry, _, _, _ []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("wrong tag under key %x", e.Key))
			}
		}),
	}
}

// laterKeysUnsigned compares only half of the tag under the third and later keys of a ring. The byte
// before such a key marks it.
func laterKeysUnsigned(p *skeleton.SignerParts) {
	const half = sha256.Size / 2
	lookup := p.Lookup
	p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
		e := lookup(r, id)
		if slices.Index(r.Entries, e) < 2 {
			return e
		}
		return &skeleton.Entry{Key: append([]byte{0}, e.Key...), ID: e.ID}
	}
	p.MAC = func(key, message []byte) []byte {
		if len(key) == sha256.Size {
			return skeleton.HMAC(key, message)
		}
		return append(skeleton.HMAC(key[1:], message)[:half], make([]byte, half)...)
	}
	p.Equal = func(presented, right []byte) bool {
		if bytes.Equal(right[half:], make([]byte, half)) {
			presented, right = presented[:half], right[:half]
		}
		return hmac.Equal(presented, right)
	}
}
