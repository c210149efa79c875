// Package signedjson implements three formats of readable, signed JSON without a
// prefix: the requestState of the PHP MCP SDK (modelcontextprotocol/php-sdk c882401,
// RequestStateCodec) and of SwiftMCP (Cocoanetics/SwiftMCP ad39954,
// HMACRequestStateSigner), and the continuation tokens of the npm package run 2.1.5
// (vercel-labs/run, createSignedContinuationCodec).
//
// Layout, with m bytes of claims:
//
//	body         = base64url(claims[m])
//	php token    = body || "." || base64url(HMAC-SHA256(secret, body))
//	run token    = body || "." || base64url(HMAC-SHA256(secret, "run.continuation.v1" || NUL || body))
//	swift token  = body || "." || base64url(HMAC-SHA256(secret, claims))
//	php claims   = {"exp":Unix seconds,"data":data}
//	run claims   = {"algorithm":"HS256","expiresAtMs":n,"format":"run-continuation",
//	               "issuedAtMs":n,"nonce":32 digits,"state":state,"version":1}
//	swift claims = {"iat":Unix seconds,"exp":Unix seconds,"principal":principal,
//	               "requestDigest":base64url(digest[32]),"responses":{"input-1":state}}
//	principal    = "anonymous", or base64url(SHA-256(bearer token))
//	digest       = SHA-256(method || LF || JSON of the parameters with sorted names)
//
// The times of Swift have fractions. Its parameters are the target and the
// arguments. The target is "uri" for resources/read, else "name". Numbers in
// arguments are doubles. Names are sorted by code point here; the order of
// Foundation depends on the platform.
//
// The secret is the HMAC key itself and has at least 32 bytes. The time to live
// is 600 s by default; that of the library run is one hour. A PHP token is
// valid up to and including the second exp. A run token is valid from 60 s
// before issuedAtMs until expiresAtMs, and at most for the configured time to
// live. The nonce is random and has 16 bytes, in lower-case hexadecimal.
//
// Data and state are objects that the application chooses. Here they are
// {"s":state}, and the state is text. Under the option payload=json of run the
// state is the JSON text of s. Verify returns it as JSON.stringify prints it.
//
// The option reading selects one of two readings. Under reading=strict, the
// default, the scheme accepts tokens only as it mints them. Under reading=sdk
// it answers as the original does. PHP decodes the segment of the mac by
// base64_decode, which accepts LF, CR, space and tab, + and /, correct padding
// and spare bits. Its claims may be any JSON that PHP accepts. SwiftMCP accepts
// either alphabet, padding and spare bits in both segments, and skips leading
// full stops. The library run has only one reading: it re-encodes what it
// decodes, and compares. For run, reading=strict only refuses a key that is
// twice in the ring.
//
// The npm package verifies the vectors of run. The PHP format was compared with
// its class. The class is not a package of a registry, so its vectors count as
// unjudged. Swift was implemented from its source code and not compared.
//
// Known difference from run: it overflows its stack for states that nest some
// thousand levels deep. Both refuse tokens over 32 MiB.
//
// Limitations: no confidentiality, no binding except in Swift, no single use.
// PHP and Swift have no rotation and no bound on tokens from a clock that runs
// ahead. A key and the same key followed by zero bytes are one HMAC key.
package signedjson

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const defaultTTL = 600 * time.Second

// A format is one of the three formats.
type format interface {
	// label returns the text that is authenticated before the body.
	label() []byte
	// seedSize returns the number of random bytes in a token.
	seedSize() int
	// covers returns the bytes that are authenticated after the label: the
	// claims, or their base64url.
	covers(claims, body []byte) []byte
	// claims appends the JSON that is signed.
	claims(dst, seed, state []byte, c *codecs.Context) ([]byte, error)
	// open appends the state of a token to dst.
	open(dst, token []byte, c *codecs.Context, keys mac.Ring) ([]byte, error)
}

// A scheme mints and verifies tokens of one format.
type scheme struct {
	format
	keys mac.Ring // the first signs
}

// newScheme returns the scheme for a Config. It checks the secrets and the time
// to live, which must be a positive multiple of unit.
func newScheme(c codecs.Config, unit time.Duration, of func(ttl time.Duration, faithful bool) format) (*scheme, error) {
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	ttl, faithful := c.TTLOr(defaultTTL), framework.IsSDK(c.Options)
	if ttl <= 0 || ttl%unit != 0 {
		return nil, fmt.Errorf("the time to live is %v and must be a positive multiple of %v", ttl, unit)
	}
	s := &scheme{format: of(ttl, faithful)}
	if !faithful {
		if err := keyring.CheckDistinct(c.Secrets); err != nil {
			return nil, err
		}
	}
	for _, secret := range c.Secrets {
		s.keys = append(s.keys, mac.New(secret))
	}
	return s, nil
}

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	seed := make([]byte, s.seedSize())
	keyring.Random(seed)
	return s.mint(dst, seed, state, c, nil)
}

func (s *scheme) mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	text, err := s.claims(work.Bytes, seed, state, c)
	if err != nil {
		return dst, err
	}
	work.Bytes = text
	text = edit.Give(lab.StepClaims, text)
	n := len(work.Bytes)
	work.Bytes = base64url.AppendEncode(work.Bytes, text)
	body := edit.Give(lab.StepText, work.Bytes[n:])
	tag := edit.Give(lab.StepTag, s.keys[0].Append(nil, s.label(), s.covers(text, body)))
	dst = append(dst, edit.Apply(lab.WireText, body)...)
	return layouts.AppendSegment(layouts.AppendSeparator(dst, edit), edit, lab.WireTag, tag), nil
}

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.open(dst, token, c, s.keys)
}

// ofText is embedded in formats that authenticate the base64url of the claims.
type ofText struct{}

func (ofText) covers(_, body []byte) []byte { return body }

func inspect(token []byte) ([]lab.Field, error) {
	return layouts.ParseDotted("", token, lab.WireBody, lab.WireTag)
}
