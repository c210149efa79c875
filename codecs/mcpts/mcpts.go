// Package mcpts implements the requestState of the TypeScript MCP SDK:
// createRequestStateCodec (npm @modelcontextprotocol/server 2.4.0).
//
// Layout, with m bytes of claims:
//
//	body   = base64url(claims[m])
//	token  = "v1." || body || "." || base64url(mac[32])
//	claims = {"p":payload,"exp":Unix seconds,"b":bind tag}, b only with a binding
//	mac    = HMAC-SHA256(secret, "v1." || body)
//	bind tag = base64url(HMAC-SHA256(secret, "mcp.requestState.bind:" || text)[:16])
//
// The secret is the HMAC key itself and has at least 32 bytes. The ring has one
// key. A token is valid up to and including the second exp: the second of
// minting plus the time to live (600 s by default), of which a fraction is
// kept.
//
// The payload is any JSON value. Under the option payload=text, the default,
// the payload is a string and the state is its text. Mint refuses states that
// are not WTF-8. Under payload=json the state is the JSON text of the value, in
// UTF-8. Verify returns it as JSON.stringify writes it, or empty if the SDK
// returns undefined.
//
// The option bind selects the result of the SDK's bind callback:
//
//	none       there is no callback, as by default in the SDK
//	principal  the principal, "" if there is none
//	request    JSON.stringify([method, target, arguments digest, principal or
//	           null, audience or null]), the digest as in compactjson.AppendDigest
//
// The callback's text is encoded by a TextEncoder, which replaces lone
// surrogates by U+FFFD.
//
// The option reading selects one of two readings. Under reading=sdk the scheme
// answers as the SDK does: the mac's segment may contain white space, + and /,
// correct padding and spare bits (atob), the claims may be any JSON, and times to
// live may be 0 or negative. Under reading=strict, the default, it accepts only
// tokens that the SDK mints, and a positive time to live.
//
// Known difference of reading=sdk: payloads nest 10000 deep at most.
//
// Limitations: no confidentiality, no rotation, no binding unless bind selects
// one, no bound on tokens from a clock that runs ahead, no single use. A key and
// the same key followed by zero bytes are one HMAC key.
package mcpts

import (
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

const (
	prefix     = "v1."
	bindLabel  = "mcp.requestState.bind:"
	bindSize   = 16
	defaultTTL = 600 * time.Second
)

var (
	prefixBytes    = []byte(prefix)
	bindLabelBytes = []byte(bindLabel)
)

// A scheme mints and verifies tokens of the format.
type scheme struct {
	mac      *mac.Key
	ttl      time.Duration
	payload  payloads
	bind     callback // nil if absent
	faithful bool
}

// newScheme returns the scheme for a Config that Design has completed.
func newScheme(c codecs.Config) (*scheme, error) {
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	faithful := framework.IsSDK(c.Options)
	ttl := c.TTLOr(defaultTTL)
	if ttl <= 0 && !faithful {
		return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
	}
	return &scheme{mac: mac.New(c.Secrets[0]), ttl: ttl, bind: callbacks[c.Options[optionBind]], payload: payloadKinds[c.Options[framework.OptionPayload]], faithful: faithful}, nil
}

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, b, nil)
}

func (s *scheme) mint(dst, _, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := b.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	claims, err := s.claims(work, state, b, edit)
	if err != nil {
		return dst, err
	}
	head := edit.Apply(lab.StepPrefix, prefixBytes)
	claims = edit.Give(lab.StepClaims, claims)
	n := len(work.Bytes)
	work.Bytes = base64url.AppendEncode(work.Bytes, claims)
	body := edit.Give(lab.StepText, work.Bytes[n:])
	n = len(work.Bytes)
	work.Bytes = s.mac.Append(work.Bytes, head, framework.TextEncode(body))
	tag := edit.Give(lab.StepTag, work.Bytes[n:])

	dst = slices.Grow(dst, len(head)+len(body)+len(layouts.Separator)+base64url.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	dst = append(dst, edit.Apply(lab.WireText, body)...)
	dst = layouts.AppendSeparator(dst, edit)
	tag = edit.Apply(lab.WireTag, tag)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, tag), len(dst)), nil
}

// claims appends the JSON that is signed to work and returns it.
func (s *scheme) claims(work *base64url.Scratch, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	var tag []byte
	if s.bind != nil {
		made, err := s.appendBindTag(work.Bytes, c)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
		}
		work.Bytes = made
		tag = edit.Give(lab.StepBind, made)
	}
	n := len(work.Bytes)
	work.Grow(96 + len(state)*9/8)
	text, err := s.appendClaims(work.Bytes, state, float64(c.Now.Unix())+s.ttl.Seconds(), tag)
	if err != nil {
		return nil, err
	}
	work.Bytes = text
	return text[n:], nil
}

// The text before each claim.
const (
	beforePayload = `{"p":`
	beforeExpires = `,"exp":`
)

// appendClaims appends the claims as JSON.stringify writes them, without b if tag
// is nil.
func (s *scheme) appendClaims(dst, state []byte, expires float64, tag []byte) ([]byte, error) {
	dst, err := s.payload.fromState(append(dst, beforePayload...), state)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	dst = rawjson.AppendJSNumber(append(dst, beforeExpires...), expires)
	if tag != nil {
		dst = rawjson.Stringify.Append(append(dst, `,"b":`...), tag)
	}
	return append(dst, '}'), nil
}
