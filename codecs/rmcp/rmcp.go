// Package rmcp implements the requestState of the Rust MCP SDK:
// RequestStateCodec of the crate rmcp 3.9.0, in its two formats.
//
// Layout, with a payload of m bytes:
//
//	rs1 token = "rs1." || base64url(body) || "." || base64url(mac[32])
//	rs2 token = "rs2." || base64url(key ID) || "." || base64url(body) || "." || base64url(mac[32])
//	body      = expiry[8] || payload[m]
//	rs1 mac   = HMAC-SHA256(secret, "rmcp/mrtr/request-state/v1" || n(data) || body)
//	rs2 mac   = HMAC-SHA256(secret, "rmcp/mrtr/request-state/v2" || n(key ID) || n(data) || body)
//	n(x)      = length of x in bytes, 8 bytes || x
//
// Integers are big-endian. The expiry is in milliseconds of Unix time; 0 means
// that the token does not expire. A token is valid up to and including its
// expiry. The secret is the HMAC key itself and has at least 32 bytes. The
// operator chooses the key ID, which has 1 to 255 bytes of UTF-8.
//
// The option expiry selects the time to live. Under ttl it is that of the
// configuration (600 s by default). Under never tokens do not expire, as in the
// crate unless the application sets a time.
//
// The option bind selects the associated data, which the application supplies:
//
//	none     empty, as in the crate by default
//	docs     "user:" || principal || "|" || method || ":" || target, as in the
//	         crate's documentation
//	request  n(method) || n(target) || n(digest) || optional(principal) ||
//	         optional(audience), the digest as in compactjson.AppendDigest; optional(x) is
//	         one byte 0, or one byte 1 || n(x)
//
// The option kid selects the key IDs of rs2. Under derived they are the first
// 16 digits of SHA-256("sealab/rmcp key ID" || secret) in lower-case
// hexadecimal. Under numbered they are k1, k2, ... in the order of the ring.
// The option rs1 selects whether a ring of rs2 also opens rs1 tokens under any
// of its keys, as with_rs1_fallback does.
//
// The option reading selects one of two readings. Under reading=sdk the scheme
// answers as the crate does. Under reading=strict, the default, it also refuses
// tokens without expiry unless the option expiry is never, times to live under
// 1 ms, and a key that is twice in the ring. Both accept only canonical
// encodings.
//
// At times before 1970 the crate panics. Under reading=sdk, Mint and Verify
// then return codecs.ErrUnsupported.
//
// Limitations: no confidentiality, no binding unless bind selects one, no bound on
// tokens from a clock that runs ahead, no single use. A key and the same key
// followed by zero bytes are one HMAC key.
package rmcp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	expirySize = 8
	maxKeyID   = 255
	defaultTTL = 600 * time.Second
	keyIDLabel = "sealab/rmcp key ID"
)

// A version is one of the two formats.
type version struct {
	prefix []byte
	domain string
	keyID  bool // tokens name their key
}

var (
	rs1 = version{prefix: []byte("rs1."), domain: "rmcp/mrtr/request-state/v1"}
	rs2 = version{prefix: []byte("rs2."), domain: "rmcp/mrtr/request-state/v2", keyID: true}
)

// A scheme mints and verifies tokens of one format.
type scheme struct {
	version  *version
	keys     mac.Ring // the first seals
	ids      []string // the ID of each key
	ttl      time.Duration
	never    bool // tokens do not expire
	bind     binder
	fallback bool // rs1 tokens open under every key
	faithful bool
}

// newRS1 returns the scheme for a Config that RS1 has completed.
func newRS1(c codecs.Config) (*scheme, error) { return open(c, &rs1) }

// newRS2 returns the scheme for a Config that RS2 has completed.
func newRS2(c codecs.Config) (*scheme, error) { return open(c, &rs2) }

func open(c codecs.Config, v *version) (*scheme, error) {
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	s := &scheme{
		version: v, ttl: c.TTLOr(defaultTTL), never: c.Options[optionExpiry] == expiryNever, bind: binders[c.Options[optionBind]],
		fallback: !v.keyID || c.Options[optionRS1] == rs1Fallback, faithful: framework.IsSDK(c.Options),
	}
	if s.ttl < 0 || s.ttl < time.Millisecond && !s.faithful {
		return nil, fmt.Errorf("the time to live is %v and must be at least 1ms", s.ttl)
	}
	if !s.faithful || c.Options[optionKeyID] == keyIDDerived {
		if err := keyring.CheckDistinct(c.Secrets); err != nil {
			return nil, err
		}
	}
	for i, secret := range c.Secrets {
		id := keyID(secret)
		if c.Options[optionKeyID] == keyIDNumbered {
			id = fmt.Sprintf("k%d", i+1)
		}
		s.keys, s.ids = append(s.keys, mac.New(secret)), append(s.ids, id)
	}
	return s, nil
}

// keyID returns the key ID of a secret under kid=derived.
func keyID(secret []byte) string {
	sum := sha256.Sum256(append([]byte(keyIDLabel), secret...))
	return hex.EncodeToString(sum[:8])
}

// check fails if the reading does not support the context.
func (s *scheme) check(c *codecs.Context) error {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return err
	}
	if s.faithful && c.Now.Unix() < 0 {
		return codecs.ErrUnsupported
	}
	return nil
}

// expiry returns the expiry of a token minted now, in Unix milliseconds.
func (s *scheme) expiry(now time.Time) int64 {
	if s.never {
		return 0
	}
	ms, ttl := framework.Milliseconds(now), s.ttl.Milliseconds()
	if ms > math.MaxInt64-ttl {
		return math.MaxInt64
	}
	return ms + ttl
}

// A binder appends the associated data for a context. It fails if the context
// lacks a needed part.
type binder func(dst []byte, c *codecs.Context) ([]byte, error)

// binders maps the values of the option bind.
var binders = map[string]binder{
	bindNone:    func(dst []byte, _ *codecs.Context) ([]byte, error) { return dst, nil },
	bindDocs:    appendDocs,
	bindRequest: appendRequest,
}

func appendDocs(dst []byte, c *codecs.Context) ([]byte, error) {
	dst = append(dst, "user:"...)
	if c.Principal != nil {
		dst = append(dst, *c.Principal...)
	}
	dst = append(append(dst, '|'), c.Method...)
	return append(append(dst, ':'), c.Target...), nil
}

func appendRequest(dst []byte, c *codecs.Context) ([]byte, error) {
	digest, err := compactjson.AppendDigest(nil, c.Method, c.Arguments)
	if err != nil {
		return dst, err
	}
	dst = appendCounted(appendCounted(dst, c.Method), c.Target)
	dst = appendCounted(dst, string(digest))
	return appendOptional(appendOptional(dst, c.Principal), c.Audience), nil
}

// appendCounted appends the length of a text and the text.
func appendCounted(dst []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(text))), text...)
}

func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, 0)
	}
	return appendCounted(append(dst, 1), *text)
}

// head returns the authenticated text before the body: the domain, the key ID
// if the format has one, and the associated data.
func (v *version) head(keyID, data []byte) []byte {
	text := []byte(v.domain)
	if v.keyID {
		text = append(binary.BigEndian.AppendUint64(text, uint64(len(keyID))), keyID...)
	}
	return append(binary.BigEndian.AppendUint64(text, uint64(len(data))), data...)
}

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, c, nil)
}

func (s *scheme) mint(dst, _, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := s.check(c); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	data, err := s.bind(work.Bytes, c)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	work.Bytes = data
	head := edit.Apply(lab.StepPrefix, s.version.prefix)
	var id []byte
	if s.version.keyID {
		id = edit.Apply(lab.StepKeyID, []byte(s.ids[0]))
	}
	data = edit.Apply(lab.StepAAD, data)
	n := len(work.Bytes)
	work.Grow(expirySize + len(state))
	work.Bytes = append(binary.BigEndian.AppendUint64(work.Bytes, uint64(s.expiry(c.Now))), state...)
	body := edit.Give(lab.StepClaims, work.Bytes[n:])
	front := s.version.head(id, data)
	tag := edit.Give(lab.StepTag, s.keys[0].Append(nil, front, body))

	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	if s.version.keyID {
		dst = layouts.AppendSeparator(layouts.AppendSegment(dst, edit, lab.WireKeyID, id), edit)
	}
	dst = layouts.AppendSeparator(layouts.AppendSegment(dst, edit, lab.WireBody, body), edit)
	return layouts.AppendSegment(dst, edit, lab.WireTag, tag), nil
}
