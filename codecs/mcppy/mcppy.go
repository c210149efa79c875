// Package mcppy implements the requestState of the Python MCP SDK:
// AESGCMRequestStateCodec inside RequestStateBoundary (mcp.server.request_state,
// modelcontextprotocol/python-sdk 57394b0; PyPI mcp 2.3.0 is the same).
//
// Layout, with claims of m bytes as in package claims:
//
//	token = "v1." || base64url(key-id[4] || nonce[12] || ciphertext[m] || tag[16])
//	associated data = "v1." || key-id
//	key = HKDF-SHA256(secret, no salt, "mcp/request-state/v1/aes-256-gcm", 32)
//	key-id = SHA-256("mcp/request-state/v1/kid:" || key)[:4]
//
// The first secret of the ring seals, every one unseals. Secrets have at least 32
// bytes; two with one key-id are refused. Only the canonical text of a token is
// accepted. Under reading=strict, the default, the claims have to be as the SDK
// writes them. Under reading=sdk they are all that json.loads and Python's
// comparisons accept, as in the SDK.
//
// Known difference of reading=sdk: the SDK answers claims that nest deeper than
// Python recurses with an internal error; here they are malformed.
//
// Limits: a random 96-bit nonce allows 2^32 tokens per key (NIST SP 800-38D,
// section 8.3). The default time to live is 600 s.
//
// Limitations: no nonce misuse resistance, no key commitment, no single use, and
// the limitations of package claims. The key-id has 32 bits: two random secrets
// collide with a probability of 2^-32, and an attacker who chooses secrets finds
// two in some 2^16 trials.
package mcppy

import (
	"crypto/sha256"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const (
	keyLabel = "mcp/request-state/v1/aes-256-gcm"
	idLabel  = "mcp/request-state/v1/kid:"
)

var format = layouts.Format{Prefix: "v1.", NonceSize: 12, TagSize: 16}

// New returns the scheme for a ring of secrets.
func New(reading claims.Reading, ttl time.Duration, secrets ...[]byte) (codecs.Scheme, error) {
	codec, err := NewCodec(secrets...)
	if err != nil {
		return nil, err
	}
	return claims.NewReading(codec, ttl, reading)
}

// NewCodec returns the codec that the SDK calls AESGCMRequestStateCodec. Claims are
// its payload.
func NewCodec(secrets ...[]byte) (*layouts.Codec, error) {
	if err := keyring.CheckLengths(secrets); err != nil {
		return nil, err
	}
	return layouts.NewDerived(format, secrets, derive, keyring.AESGCM)
}

func derive(secret []byte) (id keyring.Fingerprint, key []byte, err error) {
	key = keyring.Derive(secret, keyLabel, keyring.KeySize)
	sum := sha256.Sum256(append([]byte(idLabel), key...))
	copy(id[:], sum[:])
	return id, key, nil
}

// Design is the catalog's row.
var Design = codecs.Design{
	Name:   "mcp-py",
	Doc:    "Python SDK: AES-256-GCM with claims",
	Spec:   "modelcontextprotocol/python-sdk 57394b0, mcp.server.request_state",
	Prefix: format.Prefix,
	Format: "mcp-py",
	Options: []codecs.Option{
		framework.Reading("the SDK"),
	},
	Hooks:      &lab.Hooks{Primitive: "AES-256-GCM", Inspect: format.Inspect},
	Guarantees: guarantees,
	NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
		codec, err := layouts.ForLab(NewCodec(c.Secrets...))
		if err != nil {
			return nil, err
		}
		return claims.NewReading(codec, c.TTLOr(claims.DefaultTTL), readings[framework.IsSDK(c.Options)])
	},
}

var readings = map[bool]claims.Reading{false: claims.Strict, true: claims.Faithful}

func guarantees(options map[string]string) []codecs.Guarantee {
	if !framework.IsSDK(options) {
		return common()
	}
	others := slices.DeleteFunc(common(), func(g codecs.Guarantee) bool { return g.Property == codecs.Expiry })
	return slices.Concat(others, codecs.Disclaims(codecs.Expiry, "json.loads takes Infinity: who holds a key can mint what never expires; for all others expiry holds"))
}

func common() []codecs.Guarantee {
	return slices.Concat(
		claims.Guarantees(),
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.Total, codecs.StrongKeys),
		keyring.Guarantees(),
		codecs.HoldsBecause(codecs.SteadyTiming, "with AES instructions; without them AES looks tables up"),
		codecs.HoldsBecause(codecs.Unlinkable, "the principal is a salted digest inside what is encrypted"),
		codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces, for up to 2^32 tokens per key"),
		codecs.Disclaims(codecs.KeyCommitting, "GCM's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce repeats the key stream"),
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric key: who can verify can mint"),
	)
}
