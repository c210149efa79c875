// Package towermcp implements the requestState of the Rust crate tower-mcp:
// RequestStateCodec of version 0.25.0, and its previous format, of version
// 0.22.2.
//
// Layout, with m bytes of claims:
//
//	v1 token = "v1." || base64url(claims[m]) || "." || base64url(mac[32])
//	v2 token = "v2." || key ID || "." || base64url(claims[m]) || "." || base64url(mac[32])
//	claims   = {"issued_at":Unix seconds,"expires_at":Unix seconds,
//	           "subject":principal,"state":state}, subject only if there is one
//	mac      = HMAC-SHA256(secret, the text before the last dot)
//	key ID   = the first 16 digits of SHA-256(secret) in lower-case hexadecimal
//
// The secret is the HMAC key itself and has at least 32 bytes. The crate lets
// an operator choose other key IDs of letters, digits, "-" and "_". A token is
// valid up to and including the second expires_at: the second of minting plus
// the whole seconds of the time to live (600 s by default). The crate ignores
// issued_at.
//
// The state is any JSON value. Under the option payload=text, the default, it
// is a string. Under payload=json the state is the JSON text of a
// serde_json::Value. Verify returns it as serde_json prints it.
//
// The option limit is the maximum length of a token in bytes. By default there
// is no limit; the crate's default is 64KiB.
//
// The option reading selects one of two readings. Under reading=sdk the scheme
// answers as the crate does, for V2 as 0.25.0 and for V1 as 0.22.2. V2 opens v1
// tokens under its first key. Claims may be any JSON that serde_json accepts
// for the envelope, including a list of the four values. Times to live may be
// under 1 s. Under reading=strict, the default, the scheme accepts only tokens
// that it mints, and refuses a ring with a key twice.
//
// Known difference of reading=sdk: members that the crate does not know nest at
// most 100000 deep.
//
// Limitations: no confidentiality, no binding to method, target, arguments or
// audience, no bound on tokens from a clock that runs ahead, no single use. v1
// has the framing of the TypeScript SDK's tokens: under the same secret the mac
// of such a token is valid. The key ID is a hash of the key, which lets an
// attacker check a guess. A key and the same key followed by zero bytes are one
// HMAC key.
package towermcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
)

const (
	prefixV1   = "v1."
	prefixV2   = "v2."
	sdkLimit   = 64 << 10
	defaultTTL = 600 * time.Second
)

// A key is a secret with its key ID.
type key struct {
	id  string
	mac *mac.Key
}

// A scheme mints and verifies tokens of one format.
type scheme struct {
	keyed    bool  // v2: tokens name their key
	keys     []key // the first signs
	ttl      time.Duration
	limit    int
	payload  payloads
	faithful bool
}

// newV1 returns the scheme for a Config that V1 has completed.
func newV1(c codecs.Config) (*scheme, error) { return open(c, false) }

// newV2 returns the scheme for a Config that V2 has completed.
func newV2(c codecs.Config) (*scheme, error) { return open(c, true) }

func open(c codecs.Config, keyed bool) (*scheme, error) {
	if err := keyring.CheckLengths(c.Secrets); err != nil {
		return nil, err
	}
	s := &scheme{
		keyed: keyed, ttl: c.TTLOr(defaultTTL), limit: math.MaxInt, payload: payloadKinds[c.Options[framework.OptionPayload]],
		faithful: framework.IsSDK(c.Options),
	}
	if c.Options[optionLimit] == limitSDK {
		s.limit = sdkLimit
	}
	if s.ttl <= 0 || s.ttl < time.Second && !s.faithful {
		return nil, fmt.Errorf("the time to live is %v and must be at least 1s", s.ttl)
	}
	if !s.faithful {
		if err := keyring.CheckDistinct(c.Secrets); err != nil {
			return nil, err
		}
	}
	for _, secret := range c.Secrets {
		sum := sha256.Sum256(secret)
		s.keys = append(s.keys, key{hex.EncodeToString(sum[:8]), mac.New(secret)})
	}
	return s, nil
}

// keyFor returns the key with the given ID, or nil.
func (s *scheme) keyFor(id []byte) *key {
	for i := range s.keys {
		if s.keys[i].id == string(id) {
			return &s.keys[i]
		}
	}
	return nil
}
