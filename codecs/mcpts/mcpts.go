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
// key. A token is valid up to and including the second exp: the second of minting
// plus the time to live (600 s by default; a fraction of a second stays).
//
// The payload is any JSON value. Under the option payload=text, the default, the
// payload is a string and the state is its text. Mint refuses states that are not
// WTF-8. Under payload=json the state is the JSON text of the value. It comes back
// as JSON.stringify writes it, and empty if the SDK returns undefined.
//
// The option bind selects the result of the SDK's bind callback:
//
//	none       there is no callback, as by default in the SDK
//	principal  the principal, "" if there is none
//	request    JSON.stringify([method, target, arguments digest, principal or
//	           null, audience or null]), the digest as in package claims
//
// The callback's text is encoded by a TextEncoder, which makes U+FFFD of lone
// surrogates.
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
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
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

// A Scheme mints and verifies tokens of the format.
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
		return nil, fmt.Errorf("the format takes one secret of at least %d bytes and was given %d", codecs.MinSecret, len(c.Secrets))
	}
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	faithful := framework.IsSDK(c.Options)
	ttl := defaultTTL
	if c.TTL != nil {
		ttl = *c.TTL
	}
	if ttl <= 0 && !faithful {
		return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
	}
	return &Scheme{mac: mac.New(c.Secrets[0]), ttl: ttl, bind: callbacks[c.Options[optionBind]], payload: payloadKinds[c.Options[optionPayload]], faithful: faithful}, nil
}
