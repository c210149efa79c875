// Package mcpd implements the requestState of the D MCP SDK: secureRequestState
// (Poita/mcp.d 7e2cbff, mcp.server.request_state).
//
// Layout, with m bytes of claims, in the two modes:
//
//	signed    = "v1." || base64url(claims[m]) || "." || base64url(mac[32])
//	encrypted = "v1e." || base64url(nonce[12] || ciphertext[m] || tag[16])
//	claims    = {"s":state,"b":bind tag,"exp":Unix seconds}
//	bind tag  = hex(HMAC-SHA256(mac key, material)), 64 lower-case characters
//	mac       = HMAC-SHA256(mac key, claims): the prefix is not covered
//	encrypted: AES-256-GCM under the aes key, associated data = the bind tag
//	mac key   = HKDF-SHA256(secret, no salt, "mcp.requestState bind-hmac key", 32)
//	aes key   = HKDF-SHA256(secret, no salt, "mcp.requestState aes-256-gcm key", 32)
//
// The option bind selects the material:
//
//	authSubject         the principal, "" if there is none (the default)
//	authSubjectAndTool  principal || NUL || name of the tool or prompt
//	none                ""
//
// A token is valid up to and including the second exp: the second of minting plus
// the time to live in whole seconds (300 s by default).
//
// The signed mode is unsound under authSubject, its default. The bind tag in a
// token is the mac of the subject, so it is also the mac of claims with the
// same text. A client that can choose its subject can forge any state and
// expiry for itself. This is a flaw of the format; use the encrypted mode.
//
// The option reading selects one of two readings. Under reading=sdk the scheme
// answers as the SDK does: it ignores the spare bits of a segment's last
// character, reads a NUL as a _, and accepts any JSON that vibe.d accepts;
// times to live may be 0 or negative. Under reading=strict, the default, it
// accepts only tokens that the SDK mints. The SDK gives no reasons for
// refusals; the reasons here are this package's. Segments whose length is 1
// modulo 4, and some with a NUL, crash a checked build of the SDK and are
// refused here.
//
// Known differences of reading=sdk, all after authentication: the SDK refuses
// claims with a number outside the range of its machine's longest float, on x86
// from 1.19e4932 on. Claims nest at most 10000 deep; the SDK overflows its
// stack.
//
// Mint refuses states that are not UTF-8.
//
// Limits: encrypted, 2^32 tokens per key (NIST SP 800-38D, section 8.3).
//
// Limitations: no rotation, no binding to method, arguments or audience, no
// difference between an empty and an absent principal, no bound on tokens from a
// clock that runs ahead, no single use. Signed tokens are linkable.
package mcpd

import (
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	macLabel   = "mcp.requestState bind-hmac key"
	aesLabel   = "mcp.requestState aes-256-gcm key"
	defaultTTL = 300 * time.Second
)

// A scheme mints and verifies tokens of one mode.
type scheme struct {
	mode     mode
	mac      *mac.Key
	ttl      time.Duration
	material func(dst []byte, c *codecs.Context) []byte
	faithful bool
}

// mode is one of the two ways to protect claims.
type mode interface {
	seedSize() int
	// protect appends the token of claims to dst.
	protect(dst, seed, claims, bind []byte, edit lab.Edit) ([]byte, error)
	// open returns the claims of an authentic token. The decoded token is in room.
	open(room *base64url.Scratch, token, bind []byte, decode decoder) ([]byte, *codecs.RejectError)
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
	k := mac.New(keyring.Derive(c.Secrets[0], macLabel, keyring.KeySize))
	newMode := newSigned
	if c.Options[optionMode] == modeEncrypted {
		newMode = newEncrypted
	}
	mode, err := newMode(c.Secrets[0], k)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return &scheme{mode, k, ttl, materials[c.Options[optionBind]], faithful}, nil
}

// materials maps the values of the option bind to functions that append the
// material.
var materials = map[string]func(dst []byte, c *codecs.Context) []byte{
	bindSubject: appendSubject,
	bindTool: func(dst []byte, c *codecs.Context) []byte {
		return append(append(appendSubject(dst, c), 0), tool(c)...)
	},
	bindNone: func(dst []byte, _ *codecs.Context) []byte { return dst },
}

func appendSubject(dst []byte, c *codecs.Context) []byte {
	if c.Principal == nil {
		return dst
	}
	return append(dst, *c.Principal...)
}

// tool returns params.name, which requests for resources/read lack.
func tool(b *codecs.Context) string {
	if b.Method == "resources/read" {
		return ""
	}
	return b.Target
}
