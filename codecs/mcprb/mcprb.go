// Package mcprb implements the requestState of the Ruby MCP SDK:
// MCP::Server::RequestStateSecurity (modelcontextprotocol/ruby-sdk fcb1ac9).
//
// Layout, with m bytes of claims:
//
//	token  = "v1." || base64url(iv[12] || ciphertext[m] || tag[16])
//	associated data = "v1."; AES-256-GCM under the secret itself, of 32 bytes
//	claims = {"v":1,"exp":Unix seconds,"m":method,"t":target,"a":digest,
//	         "aud":audience,"s":state}, aud only if there is an audience
//
// The arguments' digest is the SHA-256, in lower-case hexadecimal, of the SDK's
// canonical JSON: members sorted by name, scalars as Ruby's to_json prints
// them. Arguments that are absent, null or false count as {}. Under the option
// digest=given the arguments are a JSON string that already is the digest.
//
// A token is valid up to and including the second exp: the second of minting plus
// the time to live, 300 s by default, in whole seconds. (With fractions the SDK
// mints tokens that it refuses; here they are an error.)
//
// The option reading selects one of two readings. Under reading=sdk the scheme
// answers as the SDK does under Ruby 3.1 (json 2.6): + and / count as - and _,
// correct padding passes, claims may be any JSON that JSON.parse accepts. Under
// reading=strict, the default, it accepts only tokens that the SDK mints.
//
// A known difference of reading=sdk, after authentication: if the claims are
// not an object, Ruby raises another exception than for a refusal.
//
// Mint refuses states and names that are not UTF-8.
//
// Limits: a random 96-bit iv allows 2^32 tokens per key (NIST SP 800-38D,
// section 8.3).
//
// Limitations: no rotation, no binding to the principal, no bound on tokens from a
// clock that runs ahead, no nonce misuse resistance, no key commitment, no
// separation from other uses of the secret, no single use.
package mcprb

import (
	"crypto/cipher"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

const (
	prefix     = "v1."
	keySize    = 32
	ivSize     = 12
	tagSize    = 16
	defaultTTL = 300 * time.Second
)

var prefixBytes = []byte(prefix)

// A scheme mints and verifies tokens of the format.
type scheme struct {
	aead     cipher.AEAD
	ttl      time.Duration
	digest   digester
	faithful bool
}

// newScheme returns the scheme for a Config that Design has completed.
func newScheme(c codecs.Config) (*scheme, error) {
	//mutant:equivalent the contract compares the length with KeySize first
	if len(c.Secrets) != 1 || len(c.Secrets[0]) != keySize {
		return nil, fmt.Errorf("the format takes one secret of exactly %d bytes", keySize)
	}
	ttl := c.TTLOr(defaultTTL)
	if ttl <= 0 || ttl%time.Second != 0 {
		return nil, fmt.Errorf("the time to live is %v and must be a positive number of whole seconds", ttl)
	}
	aead, err := keyring.AESGCM(c.Secrets[0])
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return &scheme{aead, ttl, digesters[c.Options[optionDigest]], framework.IsSDK(c.Options)}, nil
}

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, b, nil)
}

// layout lists the fields after the prefix.
var layout = layouts.Layout{lab.WireNonce, lab.WireBody, lab.WireTag}

// mint mints in steps that edit may change. The seed is the iv; if it is nil,
// the iv is random. If an edit changes the length of the iv, the error is
// codecs.ErrUnsupported.
func (s *scheme) mint(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := b.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Wipe(0)
	text, err := s.claims(work, state, b)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	out := base64url.GetInner()
	defer out.Free()
	out.Grow(ivSize + len(text) + tagSize)
	iv := out.Bytes[:ivSize]
	if copy(iv, seed) == 0 {
		keyring.Random(iv)
	}
	iv = edit.Apply(lab.StepNonce, iv)
	text = edit.Give(lab.StepClaims, text)
	data := edit.Apply(lab.StepAAD, head)
	if len(iv) != ivSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := s.aead.Seal(out.Bytes[ivSize:ivSize], iv, text, data)
	if edit == nil {
		raw := out.Bytes[:ivSize+len(sealed)]
		dst = append(slices.Grow(dst, len(prefix)+base64url.EncodedLen(len(raw))), prefix...)
		return base64url.AppendEncode(dst, raw), nil
	}
	body, tag := sealed[:len(text)], sealed[len(text):]
	return layout.Append(dst, edit, head, iv, body, tag), nil
}

// claims appends the JSON that is sealed to work and returns it.
func (s *scheme) claims(work *base64url.Scratch, state []byte, b *codecs.Context) ([]byte, error) {
	work.Grow(256 + 2*len(b.Arguments) + len(state)*9/8)
	digest, err := s.digest(work.Bytes, b.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	valid := utf8.ValidString(b.Method) && utf8.ValidString(b.Target) && (b.Audience == nil || utf8.ValidString(*b.Audience))
	if !valid || !utf8.Valid(digest) || !rawjson.ValidUTF8(state) {
		return nil, codecs.ErrUnsupported
	}
	literal := strconv.AppendInt(digest, b.Now.Unix()+int64(s.ttl/time.Second), 10)
	c := claims{
		expires: literal[len(digest):],
		method:  b.Method, target: b.Target, digest: digest, audience: b.Audience, state: state,
	}
	work.Bytes = c.append(literal)
	return work.Bytes[len(literal):], nil
}

// claims are the sealed members.
type claims struct {
	expires        []byte // the literal of an integer
	method, target string
	digest         []byte // a quoted string
	state          []byte
	audience       *string
}

const beforeExpires = `{"v":1,"exp":`

// append appends c as JSON.generate writes it.
func (c *claims) append(dst []byte) []byte {
	dst = append(append(dst, beforeExpires...), c.expires...)
	dst = appendRequest(dst, c.method, c.target, c.digest, c.audience)
	return append(generate.Append(dst, c.state), '}')
}

// appendRequest appends the claims between the expiry and the state.
func appendRequest(dst []byte, method, target string, digest []byte, audience *string) []byte {
	dst = generate.AppendText(append(dst, `,"m":`...), method)
	dst = generate.AppendText(append(dst, `,"t":`...), target)
	dst = append(append(dst, `,"a":`...), digest...)
	if audience != nil {
		dst = generate.AppendText(append(dst, `,"aud":`...), *audience)
	}
	return append(dst, `,"s":`...)
}
