// Package mcpts is what the TypeScript MCP SDK puts on the wire as requestState:
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
// The secret, of at least 32 bytes, is the HMAC key itself; there is no ring. A
// token is good up to and including the second exp, which is the second of
// minting plus the time to live (600 s by default; a fraction of a second stays).
//
// The payload is any JSON value. Under the option payload=text, the default, it
// is a string, which is the state: WTF-8, other states are not minted. Under
// payload=json the state is the JSON text of the value; it comes back as
// JSON.stringify writes it, and empty where the SDK would return undefined.
//
// What the SDK's bind callback returns is the option bind:
//
//	none       there is no callback, as by default in the SDK
//	principal  the principal, "" where there is none
//	request    JSON.stringify([method, target, arguments digest, principal or
//	           null, audience or null]), the digest as in package envelope
//
// The callback's text is encoded by a TextEncoder, which makes U+FFFD of lone
// surrogates.
//
// Two readings. The faithful one answers as the SDK does: the mac's segment may
// contain white space, + and /, correct padding and spare bits (atob), the claims
// may be any JSON, and times to live may be 0 or negative. The strict one, the
// default, takes only what the SDK mints and a positive time to live.
//
// Known difference of the faithful reading: payloads nest 10000 deep at most.
//
// It does not give: confidentiality, rotation, any binding unless one is asked
// for, a bound on tokens from a clock that runs ahead, separation of a key from
// the same key followed by zero bytes (HMAC pads with them), single use.
package mcpts

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
)

const (
	prefix     = "v1."
	separator  = "."
	bindLabel  = "mcp.requestState.bind:"
	bindSize   = 16
	defaultTTL = 600 * time.Second
)

var (
	prefixBytes    = []byte(prefix)
	separatorBytes = []byte(separator)
	bindLabelBytes = []byte(bindLabel)
)

// A Scheme mints and verifies tokens of the format. It implements
// lab.SchemeAssembler.
type Scheme struct {
	mac      *mac.Key
	ttl      time.Duration
	payload  payloads
	bind     callback // nil: none
	faithful bool
}

// New returns the scheme for a configuration of Design.
func New(c codecs.Config) (*Scheme, error) {
	if len(c.Secrets) != 1 {
		return nil, fmt.Errorf("sealab: the format takes one secret of at least %d bytes and was given %d", codecs.MinSecret, len(c.Secrets))
	}
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	faithful := c.Options[optionReading] == readingSDK
	ttl := defaultTTL
	if c.TTL != nil {
		ttl = *c.TTL
	}
	if ttl <= 0 && !faithful {
		return nil, fmt.Errorf("sealab: the time to live is %v and must be positive", ttl)
	}
	return &Scheme{mac: mac.New(c.Secrets[0]), ttl: ttl, bind: callbacks[c.Options[optionBind]], payload: payloadKinds[c.Options[optionPayload]], faithful: faithful}, nil
}
