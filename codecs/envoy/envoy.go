// Package envoy is the design envoy-session: the session IDs and event IDs that Envoy
// AI Gateway v1.1.0 (c217da8, internal/mcpproxy) gives to MCP clients.
//
// Layout, with a payload of m bytes:
//
//	token = base64(salt[16] || nonce[12] || ciphertext[m] || tag[16])
//	ciphertext, tag = AES-256-GCM(key, nonce, payload), without associated data
//	key   = PBKDF2-HMAC-SHA256(seed, salt, iterations, 32 bytes)
//
// base64 is padded and has the standard alphabet. The secret is the seed. The
// first secret of the ring seals. The others open, as does the gateway's one
// fallback seed.
//
// The gateway derives the key with 100,000 iterations by default; its operator
// can choose the number. The row of the catalog uses 100, so that instruments
// finish: with the default each token, valid or not, costs about 15 ms of one
// core. [New] takes any number.
//
// Under reading=sdk the decoder ignores CR, LF and spare bits, as Go's
// base64.StdEncoding does. Under reading=strict, the default, the text is canonical.
//
// The format was implemented from its source code; no second implementation
// verifies its vectors. The gateway seals "route@subject@backend:base64(session
// ID):..." and does not compare the subject afterwards, so anyone can use a
// session ID.
//
// Limitations: no time, no version, no binding. The client chooses the salt of
// a token, so key stretching happens before authentication.
package envoy

import (
	"bytes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/internal/lab"
)

const (
	saltSize  = 16
	nonceSize = 12
	tagSize   = 16
	keySize   = 32

	rowIterations = 100
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
)

// wireSalt is the step that writes the salt.
const wireSalt lab.Step = "wire-salt"

// A format is the encryption under one seed.
type format struct {
	seed       string
	iterations int
	sdk        bool
}

// New returns the codec for a configuration of Design with a number of iterations.
func New(c codecs.Config, iterations int) (codecs.Codec, error) {
	//mutant:equivalent the rows of the catalog give the number
	if iterations < 1 {
		return nil, fmt.Errorf("%d iterations; want at least 1", iterations)
	}
	return framework.NewCodec(c.Secrets, func(secret []byte) (framework.Format, error) {
		return &format{string(secret), iterations, framework.IsSDK(c.Options)}, nil
	})
}

func (f *format) SeedSize() int { return saltSize + nonceSize }

// aead derives the key of a token. It cannot fail with these sizes.
func (f *format) aead(salt []byte) cipher.AEAD {
	key, err := pbkdf2.Key(sha256.New, f.seed, salt, f.iterations, keySize)
	if err != nil {
		panic("envoy: " + err.Error())
	}
	aead, err := keyring.AESGCM(key)
	if err != nil {
		panic("envoy: " + err.Error())
	}
	return aead
}

// Mint implements framework.Format.
func (f *format) Mint(dst, seed, payload []byte, _ *codecs.Context, edit lab.Edit) ([]byte, error) {
	salt := edit.Apply(lab.StepSalt, seed[:saltSize])
	nonce := edit.Apply(lab.StepNonce, seed[saltSize:])
	payload = edit.Apply(lab.StepPayload, payload)
	if len(salt) != saltSize || len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := f.aead(salt).Seal(nil, nonce, payload, nil)
	n := len(sealed) - tagSize
	return framework.Join(dst, edit, part(salt, nonce, sealed[:n], sealed[n:])), nil
}

func part(salt, nonce, body, tag []byte) framework.Part {
	return framework.Part{Encoding: base64.StdEncoding, Fields: []framework.Piece{
		{Step: wireSalt, Value: salt}, {Step: lab.WireNonce, Value: nonce}, {Step: lab.WireBody, Value: body}, {Step: lab.WireTag, Value: tag},
	}}
}

// parse splits and decodes a token.
func parse(token []byte, sdk bool) (salt, nonce, sealed []byte, ok bool) {
	raw, ok := framework.Decode(base64.StdEncoding, token)
	if sdk {
		var err error
		raw, err = base64.StdEncoding.AppendDecode(nil, token)
		ok = err == nil
	}
	if !ok || len(raw) < saltSize+nonceSize+tagSize {
		return nil, nil, nil, false
	}
	return raw[:saltSize], raw[saltSize : saltSize+nonceSize], raw[saltSize+nonceSize:], true
}

// Open implements framework.Format.
func (f *format) Open(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	salt, nonce, sealed, ok := parse(token, f.sdk)
	if !ok {
		return dst, errMalformed
	}
	payload, err := f.aead(salt).Open(nil, nonce, bytes.Clone(sealed), nil)
	if err != nil {
		return dst, errUnauthentic
	}
	return append(dst, payload...), nil
}

// inspect splits a token with canonical base64 into fields.
func inspect(token []byte) ([]lab.Field, error) {
	salt, nonce, sealed, ok := parse(token, false)
	if !ok {
		return nil, errors.New("not base64 of salt, nonce and ciphertext")
	}
	n := len(sealed) - tagSize
	return framework.Fields([]lab.Step{wireSalt}, part(salt, nonce, sealed[:n], sealed[n:])), nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:     "envoy-session",
	Doc:      "Envoy AI Gateway: session IDs under AES-256-GCM, with a key stretched for each token",
	Spec:     "envoyproxy/ai-gateway v1.1.0 (c217da8), internal/mcpproxy, with 100 iterations",
	Format:   "envoy-session",
	Options:  []codecs.Option{framework.Reading("the gateway")},
	NewCodec: func(c codecs.Config) (codecs.Codec, error) { return New(c, rowIterations) },
	Hooks: &lab.Hooks{
		Inspect: inspect, Other: "+/=", Unjudged: true, Stretched: true,
		TokenSize: func(n int) int { return base64.StdEncoding.EncodedLen(saltSize + nonceSize + n + tagSize) },
		Allocates: "a key is derived for each token",
	},
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(options, "CR, LF and spare bits are ignored"),
			codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.Rotation, codecs.PrivateKeys),
			codecs.HoldsBecause(codecs.StrongKeys, "seeds of at least 32 bytes; the gateway has no minimum"),
			guarantee.AESTiming,
			codecs.HoldsBecause(codecs.FreshNonces, "each token has a key of its own from a 128-bit salt, and a random 96-bit nonce"),
			codecs.Disclaims(codecs.Inert, "the key is stretched from the salt of the token before it is authenticated"),
			guarantee.GCMTwoKeys,
			codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated salt and nonce repeat the key stream"),
			codecs.Disclaims(codecs.KeySeparation, "different seeds can be equivalent under HMAC, and any other use of the seed shares it"),
			codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric seed: whoever can open tokens can mint them"),
		)
	},
}
