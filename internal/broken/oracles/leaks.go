package oracles

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Leaks returns schemes whose tokens reveal too much.
func Leaks() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewScheme("linkable", "the binding's tag has no salt", []codecs.Property{codecs.Unlinkable}, []string{"LNK-01"}, func(p *skeleton.SchemeParts) {
			p.BindTag = func(key, _ []byte, text string) []byte {
				return skeleton.HMAC(skeleton.BindKey(key), []byte(text))[:16]
			}
		}),
		skeleton.NewScheme("linkable-byte", "of the salt of the binding's tag one byte is a digest of the principal", []codecs.Property{codecs.Unlinkable}, []string{"LNK-01"}, func(p *skeleton.SchemeParts) {
			p.BindTag = func(key, salt []byte, text string) []byte {
				tag := skeleton.HMAC(skeleton.BindKey(key), append([]byte(text), salt...))[:16]
				tag[0] = skeleton.HMAC(skeleton.BindKey(key), []byte(text))[0]
				return tag
			}
		}),
		skeleton.NewScheme("linkable-length", "the length of the binding's tag depends on the principal", []codecs.Property{codecs.Unlinkable}, []string{"LNK-01"}, func(p *skeleton.SchemeParts) {
			p.BindTag = func(key, salt []byte, text string) []byte {
				tag := skeleton.HMAC(skeleton.BindKey(key), append([]byte(text), salt...))
				return tag[:16+skeleton.HMAC(key, []byte(text))[0]%16]
			}
		}),
		skeleton.NewWrappedScheme("linkable-sum", "a hint for routing is a digest of the principal, masked by the first bytes of the tag in front of it", []codecs.Property{codecs.Unlinkable}, []string{"LNK-01"},
			func(inner codecs.Scheme) codecs.Scheme { return hintingScheme{inner} }),
		skeleton.NewWrappedScheme("linkable-chain", "a token holds the end of the token before of its principal", []codecs.Property{codecs.Unlinkable}, []string{"LNK-01"},
			chainedTokens(func(b *codecs.Context) string { return skeleton.TextOrEmpty(b.Principal) })),
		skeleton.NewWrappedScheme("salt-outside", "the salt of the binding is in front of the tagged text", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-02"},
			func(inner codecs.Scheme) codecs.Scheme { return saltedOutside{inner} }),
		skeleton.NewScheme("one-key", "the tag of the principal is under the key of the token", []codecs.Property{codecs.Integrity, codecs.Unlinkable}, []string{"ORA-01"}, func(p *skeleton.SchemeParts) {
			p.Binding = func(b *codecs.Context) string { return skeleton.TextOrEmpty(b.Principal) }
			p.BindTag = func(key, _ []byte, text string) []byte { return skeleton.HMAC(key, []byte(text)) }
		}),
	}
}

// A hintingScheme mints
//
//	token = inner || "." || base64url(hint[4])
//	hint = SHA-256(principal) xor the last bytes of the tag of the inner token
type hintingScheme struct{ codecs.Scheme }

// principalHint returns the hint of an inner token.
func principalHint(inner []byte, b *codecs.Context) string {
	sum := sha256.Sum256([]byte(skeleton.TextOrEmpty(b.Principal)))
	raw, ok := skeleton.DecodeCanonical(string(inner[bytes.LastIndexByte(inner, '.')+1:]))
	if !ok || len(raw) < 4 {
		return ""
	}
	masked := make([]byte, 4)
	subtle.XORBytes(masked, sum[:4], raw)
	return base64.RawURLEncoding.EncodeToString(masked)
}

// Mint implements codecs.Scheme.
func (s hintingScheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	inner, err := s.Scheme.Mint(nil, state, b)
	if err != nil {
		return dst, err
	}
	return fmt.Appendf(dst, "%s.%s", inner, principalHint(inner, b)), nil
}

// Verify implements codecs.Scheme.
func (s hintingScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	at := max(0, bytes.LastIndexByte(token, '.'))
	if string(token[at:]) != "."+principalHint(token[:at], b) {
		return dst, skeleton.ErrUnauthentic
	}
	return s.Scheme.Verify(dst, token[:at], b)
}

// A chainedScheme mints
//
//	token = "fv1." || base64url(link[8] || inner || tag[16])
//	link = the end of the token before in its chain
type chainedScheme struct {
	codecs.Scheme
	key   []byte
	chain func(*codecs.Context) string
	last  *sync.Map // ends of tokens by chain
}

// chainedTokens returns a wrapper whose schemes share one key and all chains.
func chainedTokens(chain func(*codecs.Context) string) func(codecs.Scheme) codecs.Scheme {
	key, last := skeleton.RandomBytes(32), new(sync.Map)
	return func(inner codecs.Scheme) codecs.Scheme { return chainedScheme{inner, key, chain, last} }
}

// Mint implements codecs.Scheme.
func (s chainedScheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	inner, err := s.Scheme.Mint(nil, state, b)
	if err != nil {
		return dst, err
	}
	link, ok := s.last.Load(s.chain(b))
	if !ok {
		link = skeleton.RandomBytes(8)
	}
	raw := append(slices.Clone(link.([]byte)), inner...)
	raw = append(raw, skeleton.HMAC(s.key, raw)[:16]...)
	s.last.Store(s.chain(b), raw[len(raw)-8:])
	return append(dst, skeleton.SchemePrefix+base64.RawURLEncoding.EncodeToString(raw)...), nil
}

// Verify implements codecs.Scheme.
func (s chainedScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), skeleton.SchemePrefix)
	raw, okText := skeleton.DecodeCanonical(text)
	if !ok || !okText || len(raw) < 24 {
		return dst, skeleton.ErrMalformed
	}
	body, tag := raw[:len(raw)-16], raw[len(raw)-16:]
	if !hmac.Equal(tag, skeleton.HMAC(s.key, body)[:16]) {
		return dst, skeleton.ErrUnauthentic
	}
	return s.Scheme.Verify(dst, body[8:], b)
}

// A saltedOutside scheme mints
//
//	token = "fv1." || base64url(salt[2] || inner)
//
// and binds the salt as a suffix of the target.
type saltedOutside struct{ codecs.Scheme }

func withSalt(salt []byte, b *codecs.Context) *codecs.Context {
	more := *b
	more.Target = fmt.Sprintf("%s %x", b.Target, salt)
	return &more
}

// Mint implements codecs.Scheme.
func (s saltedOutside) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	salt := skeleton.RandomBytes(2)
	inner, err := s.Scheme.Mint(nil, state, withSalt(salt, b))
	if err != nil {
		return dst, err
	}
	return append(dst, skeleton.SchemePrefix+base64.RawURLEncoding.EncodeToString(slices.Concat(salt, inner))...), nil
}

// Verify implements codecs.Scheme.
func (s saltedOutside) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), skeleton.SchemePrefix)
	raw, okText := skeleton.DecodeCanonical(text)
	if !ok || !okText || len(raw) < 2 {
		return dst, skeleton.ErrMalformed
	}
	return s.Scheme.Verify(dst, raw[2:], withSalt(raw[:2], b))
}
