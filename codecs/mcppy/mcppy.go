// Package mcppy implements the requestState of the Python MCP SDK:
// AESGCMRequestStateCodec inside RequestStateBoundary (mcp.server.request_state,
// modelcontextprotocol/python-sdk 57394b0; PyPI mcp 2.3.0 is the same).
//
// Layout, with claims of m bytes:
//
//	token = "v1." || base64url(key-id[4] || nonce[12] || ciphertext[m] || tag[16])
//	associated data = "v1." || key-id
//	key = HKDF-SHA256(secret, no salt, "mcp/request-state/v1/aes-256-gcm", 32)
//	key-id = SHA-256("mcp/request-state/v1/kid:" || key)[:4]
//
// The first secret of the ring seals, every one unseals. Secrets have at least
// 32 bytes; two with the same key-id are refused. Only the canonical text of a
// token is accepted.
//
// The claims are compact JSON (package compactjson) with these members in
// order:
//
//	v    1
//	iat  time of issue in Unix seconds, a float
//	exp  iat + time to live, a float
//	m    method
//	t    target: name of the tool or prompt, URI of the resource
//	a    base64url(SHA-256(compact_json(arguments, sorted))[:16]), 22 characters
//	s    state
//	aud  audience, only if there is one
//	p    base64url(salt[8] || SHA-256("mcp/request-state/principal:" || salt ||
//	     principal)[:16]), 32 characters, only if there is a principal
//
// A token is refused from exp on, including exp itself, and if it was issued
// more than 60 seconds in the future. Times are floats of Unix seconds, with a
// resolution of about a quarter of a microsecond.
//
// Under reading=strict, the default, claims are accepted only as the SDK writes
// them. Under reading=sdk the scheme accepts all that json.loads and Python's
// comparisons accept, as the SDK does: any JSON, true or 1.0 for the version,
// integers for times.
//
// State and names are WTF-8 (UTF-8, and lone surrogates in three bytes, as
// Python's surrogatepass has them): Mint returns codecs.ErrUnsupported for
// other bytes and for arguments that are not JSON, and Verify refuses them. A
// principal may be any bytes.
//
// Seeds are the nonce followed by the salt's 8 bytes.
//
// Known difference of reading=sdk: for claims nested deeper than Python's
// recursion limit the SDK returns an internal error; here they are malformed.
//
// Limits: a random 96-bit nonce allows 2^32 tokens per key (NIST SP 800-38D,
// section 8.3). The default time to live is 600 s. Arguments nest 10000 deep at most.
//
// Limitations: no nonce misuse resistance, no key commitment, no single use.
// Absent arguments and those that are false in Python (null, {}, [], "", 0,
// false) have the same digest. The arguments of resources/read are not bound.
// The key-id has 32 bits: two random secrets collide with a probability of
// 2^-32, and an attacker who chooses secrets finds a collision in some 2^16
// trials.
package mcppy

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

const (
	keyLabel = "mcp/request-state/v1/aes-256-gcm"
	idLabel  = "mcp/request-state/v1/kid:"
)

// The lengths of a nonce and of a seed in bytes.
const (
	nonceSize = 12
	seedSize  = nonceSize + len(salt{})
)

var format = layouts.Format{Prefix: "v1.", NonceSize: nonceSize, TagSize: 16}

// defaultTTL is the time to live if the configuration has none.
const defaultTTL = 600 * time.Second

// skew is the maximum time between now and a later time of issue, in seconds.
const skew = 60.0

// scheme combines the SDK's codec with its boundary.
type scheme struct {
	codec  *layouts.Codec
	ttl    time.Duration
	strict bool // accept claims only as Mint writes them
}

// New returns the scheme for a ring of secrets, in the strict reading. It fails
// if ttl is not positive.
func New(ttl time.Duration, secrets ...[]byte) (codecs.Scheme, error) {
	codec, err := NewCodec(secrets...)
	//mutant:equivalent rows of the catalog open the codec themselves
	if err != nil {
		return nil, err
	}
	return newScheme(codec, ttl, true)
}

func newScheme(codec *layouts.Codec, ttl time.Duration, strict bool) (*scheme, error) {
	if ttl <= 0 {
		return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
	}
	return &scheme{codec, ttl, strict}, nil
}

// unixSeconds returns t as Python's time.time does.
func unixSeconds(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// NewCodec returns the codec that the SDK calls AESGCMRequestStateCodec. Its
// payloads are claims.
func NewCodec(secrets ...[]byte) (*layouts.Codec, error) {
	if err := keyring.CheckLengths(secrets); err != nil {
		return nil, err
	}
	return layouts.NewDerived(format, secrets, derive, keyring.AESGCM)
}

func derive(secret []byte) (id keyring.ID, key []byte, err error) {
	key = keyring.Derive(secret, keyLabel, keyring.KeySize)
	sum := sha256.Sum256(append([]byte(idLabel), key...))
	copy(id[:], sum[:])
	return id, key, nil
}

// Design is the catalog row.
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
		codec, err := NewCodec(c.Secrets...)
		if err != nil {
			return nil, err
		}
		s, err := newScheme(codec, c.TTLOr(defaultTTL), !framework.IsSDK(c.Options))
		if err != nil {
			return nil, err
		}
		return layouts.Assemble(s, seedSize, (*scheme).mintEdited), nil
	},
}

func guarantees(options map[string]string) []codecs.Guarantee {
	if !framework.IsSDK(options) {
		return common()
	}
	others := slices.DeleteFunc(common(), func(g codecs.Guarantee) bool { return g.Property == codecs.Expiry })
	return slices.Concat(others, codecs.Disclaims(codecs.Expiry, "json.loads accepts Infinity: a holder of the key can mint a token that never expires; all other tokens expire"))
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsPrincipal, codecs.BindsAudience),
		codecs.HoldsBecause(codecs.BindsArguments, "by a digest of the arguments as Python reads them; arguments of resources/read are ignored"),
		codecs.HoldsBecause(codecs.Expiry, "refused from expiry on, and when issued more than 60 seconds in the future"),
		guarantee.WTF8,
		codecs.Disclaims(codecs.Unambiguous, "arguments that are absent, null, {}, [], \"\", 0 or false share one digest"),
		guarantee.Stateless,
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Canonical, codecs.Rotation, codecs.KeySeparation,
			codecs.UniformRefusal, codecs.Total, codecs.StrongKeys),
		keyring.Guarantees(),
		guarantee.AESTiming,
		codecs.HoldsBecause(codecs.Unlinkable, "the principal is a salted digest, which is encrypted"),
		guarantee.Nonce96, guarantee.GCMTwoKeys, guarantee.RepeatedStream, guarantee.Symmetric,
	)
}
