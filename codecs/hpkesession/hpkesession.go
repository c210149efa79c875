// Package hpkesession implements the design hpke-session: AES-256-GCM under keys
// that HPKE contexts export (RFC 9180, mode_psk, DHKEM(X25519, HKDF-SHA256),
// HKDF-SHA256, AES-256-GCM), one context for many tokens.
//
// The design hpke-xwing-session is the same with X-Wing (0x647a,
// draft-connolly-cfrg-xwing-kem), which resists quantum computers.
//
// Layout, with a payload of m bytes:
//
//	token = "ss1." || base64url(key-id[4] || encapsulation[32] || nonce[12] || ciphertext[m] || tag[16])
//	token = "sq1." || base64url(key-id[4] || encapsulation[1120] || nonce[12] || ciphertext[m] || tag[16])  X-Wing
//	associated data = prefix || key-id
//	token key = Export(label || " token", 32)  (RFC 9180, section 5.3)
//	key pair, psk, psk_id, info = package hpkekeys under the label "sealab/hpke-session/v1" or
//		"sealab/hpke-xwing-session/v1"
//	key-id = keyring derivation under the same label
//
// The encapsulation is not in the associated data, because the token key
// depends on every byte of it. Only its canonical encoding is accepted. Points
// of low order are refused.
//
// A sealing context serves at most 2^20 tokens and, if a clock is given, at
// most 10 minutes. Unsealing caches up to 1,024 contexts, and only after a tag
// has verified under them. A token of a cached context costs one AES-GCM; any
// other token costs one decapsulation. A flood of invented encapsulations uses
// no memory and evicts no context.
//
// Limits: 2^20 random 96-bit nonces per token key repeat one with probability
// below 2^-56. A payload has at most 2^36 - 32 bytes.
//
// Limitations: tokens of one context are linkable: they share their
// encapsulation, which identifies a process and a span of time. A refusal is
// faster for a cached encapsulation, which shows that this opener has accepted
// a token of that context. There is no authentication of the minter towards the
// opener, no forward secrecy, no nonce misuse resistance, no key commitment,
// and no hidden payload length. hpke-session has no security against quantum
// computers. Package claims adds time, user and request.
package hpkesession

import (
	"bytes"
	"crypto/cipher"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/hpkekeys"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

const (
	idSize    = len(keyring.ID{})
	nonceSize = 12
	tagSize   = 16
)

// A variant is the layout with a particular key encapsulation mechanism.
type variant struct {
	label, prefix string
	kem           *hpkekeys.KEM
}

var (
	x25519 = &variant{"sealab/hpke-session/v1", "ss1.", hpkekeys.X25519}
	xwing  = &variant{"sealab/hpke-xwing-session/v1", "sq1.", hpkekeys.XWing}
)

// headSize is the number of bytes before the nonce.
func (v *variant) headSize() int { return idSize + v.kem.EncSize }

// minRaw returns the number of bytes of a token besides its payload.
func (v *variant) minRaw() int { return v.headSize() + nonceSize + tagSize }

func (v *variant) tokenSize(m int) int { return len(v.prefix) + base64url.EncodedLen(v.minRaw()+m) }

// The bounds of one sealing context.
const (
	maxTokens = 1 << 20
	maxAge    = 10 * time.Minute
)

// A Codec seals under the current context and unseals under any context of its
// ring. The catalog row wraps it in a lab.Assembler.
type Codec struct {
	*variant
	ring    *keyring.Ring[*ringKey]
	current rotation
	known   cache
}

// ringKey is a private key with the associated data of its tokens.
type ringKey struct {
	*variant
	*hpkekeys.PrivateKey
	data []byte // prefix || key-id
}

// New returns a [codecs.Codec] of the design hpke-session that seals under the
// first secret and unseals under each; an empty ring and a short, weak, repeated
// or colliding secret are errors. clock bounds the age of sealing contexts; if
// it is nil, only the number of tokens bounds them.
func New(clock func() time.Time, secrets ...[]byte) (*Codec, error) {
	return x25519.open(clock, secrets)
}

// NewXWing returns the codec of the design hpke-xwing-session, as New does for
// hpke-session.
func NewXWing(clock func() time.Time, secrets ...[]byte) (*Codec, error) {
	return xwing.open(clock, secrets)
}

func (v *variant) open(clock func() time.Time, secrets [][]byte) (*Codec, error) {
	ring, err := keyring.New(secrets, v.label, func(key []byte, id keyring.ID) (*ringKey, error) {
		return &ringKey{v, hpkekeys.Derive(v.kem, key, id, v.label), append([]byte(v.prefix), id[:]...)}, nil
	})
	if err != nil {
		return nil, err
	}
	c := &Codec{variant: v, ring: ring}
	c.current.start(ring.First().Key, clock)
	return c, nil
}

// Ephemeral returns a codec under a fresh random secret. No other process can
// open its tokens. Only the number of tokens bounds its sealing contexts.
func Ephemeral() *Codec {
	return keyring.Ephemeral(func(secrets ...[]byte) (*Codec, error) { return New(nil, secrets...) })
}

// A session holds the token key and the encapsulation of an HPKE context.
type session struct {
	enc   []byte
	key   *ringKey
	token cipher.AEAD
}

// An exporter is the sender's or receiver's side of an HPKE context.
type exporter interface {
	Export(exporterContext []byte, length uint) []byte
}

// newSession returns the session of a context with encapsulation enc.
func newSession(k *ringKey, enc []byte, ctx exporter) (*session, error) {
	key := ctx.Export([]byte(k.variant.label+" token"), keyring.KeySize)
	defer clear(key)
	token, err := keyring.AESGCM(key)
	//mutant:equivalent the call cannot fail with these arguments
	if err != nil {
		return nil, err
	}
	return &session{bytes.Clone(enc), k, token}, nil
}

// Design is the catalog row of hpke-session.
var Design = x25519.design("hpke-session",
	"encrypted with AES-256-GCM under a key exported from an HPKE context that serves many tokens",
	"RFC 9180, mode_psk and export, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256; NIST SP 800-38D; RFC 5869",
	"base64url and the X25519 encapsulation are both accepted in one spelling only",
	&lab.Facts{ForgeryBits: 127, ForgeryPerBlock: true, Quantum: "X25519 falls to Shor's algorithm", Use: "hpkesession.New(time.Now, secret)", Languages: []string{"python"}})

// XWing is the catalog row of hpke-xwing-session.
var XWing = xwing.design("hpke-xwing-session",
	"encrypted with AES-256-GCM under a key exported from a post-quantum HPKE context that serves many tokens",
	"RFC 9180, mode_psk and export, X-Wing (draft-connolly-cfrg-xwing-kem), HKDF-SHA256; NIST SP 800-38D; RFC 5869",
	"base64url is accepted in one spelling only, and another encapsulation gives another key",
	&lab.Facts{ForgeryBits: 127, ForgeryPerBlock: true, Use: "hpkesession.NewXWing(time.Now, secret)"})

func (v *variant) design(name, doc, spec, canonical string, facts *lab.Facts) codecs.Design {
	return codecs.Design{
		Name:     name,
		Doc:      doc,
		Spec:     spec,
		Prefix:   v.prefix,
		NewCodec: func(c codecs.Config) (codecs.Codec, error) { return forLab(v.open(c.Clock, c.Secrets)) },
		Hooks: &lab.Hooks{
			Facts:     facts,
			Primitive: "AES-256-GCM",
			Amortized: true,
			TokenSize: v.tokenSize,
			Inspect:   v.inspect,
		},
		Guarantees: codecs.Always(
			keyring.Guarantees(),
			codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.Rotation, codecs.KeySeparation,
				codecs.UniformRefusal, codecs.ByteExact, codecs.StrongKeys),
			codecs.HoldsBecause(codecs.Canonical, canonical),
			codecs.HoldsBecause(codecs.FreshNonces, "random 96-bit nonces under a token key of at most 2^20 tokens"),
			codecs.HoldsBecause(codecs.SteadyTiming, "the time depends on no key or payload, but on whether this opener knows the encapsulation, which is public; "+
				"with AES instructions, without which AES uses table lookups"),
			codecs.HoldsBecause(codecs.Total, "at most one decapsulation in addition to work linear in the token; contexts are kept for verified tokens only, at most 1,024 of them"),
			codecs.Disclaims(codecs.Unlinkable, "tokens with the same encapsulation come from the same sealer"),
			guarantee.GCMTwoKeys,
			codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated nonce in one context repeats the key stream"),
			codecs.Disclaims(codecs.SenderAuthenticated, "an opener holds the pre-shared key and can compute the public key: whoever can unseal can seal"),
		),
	}
}
