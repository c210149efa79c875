// Package plugcrypto is the design mcp-phantom: the requestState of phantom_mcp pull
// request 23 (60c0208), which is Plug.Crypto.encrypt of an Elixir term (hex
// plug_crypto 2.1.1).
//
// Layout, with a state of m bytes:
//
//	token = "XCP." || base64url(nonce[24] || tag[16] || ciphertext[m+21])
//	ciphertext, tag = XChaCha20-Poly1305(key, nonce, term), associated data "A128GCM"
//	key   = PBKDF2-HMAC-SHA256(secret, salt "request_state", 1000 iterations, 32 bytes)
//	term  = {state, milliseconds, 86400} in Erlang's external term format, version 131:
//	        tuple of a binary, a small big integer and a 32-bit integer
//
// The secret is secret_key_base. It has at least 32 bytes here; phantom_mcp
// demands 64, and Plug.Crypto sets no minimum. The operator chooses the salt.
// The time is that of minting, in Unix milliseconds. The reader sets the time
// to live, 600 seconds by default here and 86400 in the original, and ignores
// the number in the token. A token is valid from its minting until the time to
// live has passed.
//
// Under reading=sdk the base64url is decoded as Base.url_decode64 does: correct
// padding is accepted, and spare bits are ignored. The term may be any tuple of
// a binary and one or two integers of up to 62 bits, and bytes after it are
// ignored. Under reading=strict, the default, tokens must be as Mint writes
// them.
//
// Known differences of reading=sdk: the original also accepts states that are other
// terms, tuples and integers in longer encodings, and tokens of Plug.Crypto 1.x.
//
// Limits: random 192-bit nonces allow 2^80 tokens per key.
//
// Limitations: no binding, one key, no key ID, no commitment to the key, no nonce misuse
// resistance, no single use.
package plugcrypto

import (
	"bytes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/internal/lab"
)

const (
	prefix     = "XCP."
	salt       = "request_state"
	iterations = 1000
	maxAge     = 86400

	nonceSize = chacha20poly1305.NonceSizeX
	tagSize   = chacha20poly1305.Overhead
	timeSize  = 6 // bytes of a time in milliseconds from 2004 on
)

var (
	errInvalid = codecs.Reject(codecs.Malformed, "invalid")
	errSealed  = codecs.Reject(codecs.Unauthentic, "invalid")
	errFuture  = codecs.Reject(codecs.Expired, "invalid")
	errExpired = codecs.Reject(codecs.Expired, "expired")

	data = []byte("A128GCM")
)

// A format is the encryption under one secret.
type format struct {
	aead cipher.AEAD
	ttl  time.Duration
	sdk  bool
}

func (f *format) SeedSize() int { return nonceSize }

// Mint implements framework.Format.
func (f *format) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	now := framework.Milliseconds(c.Now)
	if now < 1<<(8*timeSize-8) || now >= 1<<(8*timeSize) {
		return dst, codecs.ErrUnsupported
	}
	nonce := edit.Apply(lab.StepNonce, seed)
	claims := edit.Give(lab.StepClaims, term(state, now))
	aad := edit.Apply(lab.StepAAD, data)
	if len(nonce) != nonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := f.aead.Seal(nil, nonce, claims, aad)
	n := len(sealed) - tagSize
	return framework.Join(dst, edit, parts(nonce, sealed[n:], sealed[:n])...), nil
}

// The tags of the external term format.
const (
	termVersion  = 131
	smallInteger = 97
	integer      = 98
	smallTuple   = 104
	binaryText   = 109
	smallBig     = 110
)

// term returns the external term of a state and its time.
func term(state []byte, milliseconds int64) []byte {
	out := binary.BigEndian.AppendUint32([]byte{termVersion, smallTuple, 3, binaryText}, uint32(len(state)))
	out = append(append(out, state...), smallBig, timeSize, 0)
	out = append(out, binary.LittleEndian.AppendUint64(nil, uint64(milliseconds))[:timeSize]...)
	return binary.BigEndian.AppendUint32(append(out, integer), maxAge)
}

// readTermLenient reads a term as binary_to_term does, if it is a tuple of a
// binary and one or two integers. It returns codecs.ErrUnsupported for other
// terms, which the library may accept.
func readTermLenient(text []byte) (state []byte, milliseconds int64, err error) {
	if len(text) < 3 || text[0] != termVersion || text[1] != smallTuple || text[2] != 2 && text[2] != 3 {
		return nil, 0, codecs.ErrUnsupported
	}
	elements, text := text[2], text[3:]
	if len(text) < 5 || text[0] != binaryText {
		return nil, 0, codecs.ErrUnsupported
	}
	size, text := uint64(binary.BigEndian.Uint32(text[1:])), text[5:]
	if uint64(len(text)) < size {
		return nil, 0, errInvalid
	}
	state, text = text[:size], text[size:]
	milliseconds, text, ok := readInteger(text)
	if ok && elements == 3 {
		_, _, ok = readInteger(text)
	}
	if !ok {
		return nil, 0, codecs.ErrUnsupported
	}
	return state, milliseconds, nil
}

// readInteger reads an integer of up to 62 bits.
func readInteger(text []byte) (n int64, rest []byte, ok bool) {
	switch {
	case len(text) >= 2 && text[0] == smallInteger:
		return int64(text[1]), text[2:], true
	case len(text) >= 5 && text[0] == integer:
		return int64(int32(binary.BigEndian.Uint32(text[1:]))), text[5:], true
	case len(text) < 3 || text[0] != smallBig || text[1] > 8 || len(text) < 3+int(text[1]) || text[2] > 1:
		return 0, nil, false
	}
	var wide [8]byte
	copy(wide[:], text[3:3+text[1]])
	n = int64(binary.LittleEndian.Uint64(wide[:]))
	if n < 0 || n >= 1<<62 {
		return 0, nil, false
	}
	if text[2] == 1 {
		n = -n
	}
	return n, text[3+text[1]:], true
}

// readTerm parses a term that is as term writes it.
func readTerm(text []byte) (state []byte, milliseconds int64, ok bool) {
	const head, tail = 8, 3 + timeSize + 5
	if len(text) < head+tail {
		return nil, 0, false
	}
	state = text[head : len(text)-tail]
	number := append(slices.Clone(text[len(text)-tail+3:len(text)-5]), 0, 0)
	milliseconds = int64(binary.LittleEndian.Uint64(number))
	return state, milliseconds, bytes.Equal(text, term(state, milliseconds))
}

func parts(nonce, tag, body []byte) []framework.Part {
	return []framework.Part{framework.Text(lab.WirePrefix, []byte(prefix)), {Encoding: base64.RawURLEncoding, Fields: []framework.Piece{
		{Step: lab.WireNonce, Value: nonce}, {Step: lab.WireTag, Value: tag}, {Step: lab.WireBody, Value: body},
	}}}
}

// Open implements framework.Format.
func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	nonce, tag, body, ok := parse(token, f.sdk)
	if !ok {
		return dst, errInvalid
	}
	claims, err := f.aead.Open(nil, nonce, append(slices.Clone(body), tag...), data)
	if err != nil {
		return dst, errSealed
	}
	state, minted, ok := readTerm(claims)
	if !ok && !f.sdk {
		return dst, errInvalid
	}
	if !ok {
		if state, minted, err = readTermLenient(claims); err != nil {
			return dst, err
		}
	}
	switch now := framework.Milliseconds(c.Now); {
	case minted > now:
		return dst, errFuture
	case minted+f.ttl.Milliseconds() < now:
		return dst, errExpired
	}
	return append(dst, state...), nil
}

// parse splits and decodes a token.
func parse(token []byte, sdk bool) (nonce, tag, body []byte, ok bool) {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	raw, decoded := framework.DecodeURL(text)
	if sdk {
		raw, decoded = urlDecode64(text)
	}
	if !ok || !decoded || len(raw) < nonceSize+tagSize {
		return nil, nil, nil, false
	}
	return raw[:nonceSize], raw[nonceSize : nonceSize+tagSize], raw[nonceSize+tagSize:], true
}

// urlDecode64 decodes as Elixir's Base.url_decode64 does with padding: false.
func urlDecode64(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r\n") {
		return nil, false
	}
	if len(text)%4 == 0 {
		if raw, err := base64.URLEncoding.AppendDecode(nil, text); err == nil {
			return raw, true
		}
	}
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	return raw, err == nil
}

// inspect splits a token with canonical base64url into fields.
func inspect(token []byte) ([]lab.Field, error) {
	nonce, tag, body, ok := parse(token, false)
	if !ok {
		return nil, errors.New("not a token of Plug.Crypto.encrypt")
	}
	return framework.Fields(nil, parts(nonce, tag, body)...), nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "mcp-phantom",
	Doc:     "phantom_mcp pull request 23: an Elixir term under Plug.Crypto.encrypt, XChaCha20-Poly1305, unbound",
	Spec:    "phantom_mcp 60c0208, Phantom.RequestState; hex plug_crypto 2.1.1, Plug.Crypto.encrypt",
	Prefix:  prefix,
	Format:  "mcp-phantom",
	MaxKeys: 1,
	Options: []codecs.Option{framework.Reading("the library")},
	Hooks:   &lab.Hooks{Inspect: inspect, FewVectors: true, Allocates: "segments are decoded to buffers of their own"},
	NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
		key, err := pbkdf2.Key(sha256.New, string(secret), []byte(salt), iterations, chacha20poly1305.KeySize)
		if err != nil {
			return nil, err
		}
		aead, err := chacha20poly1305.NewX(key)
		return &format{aead, ttl, framework.IsSDK(options)}, err
	}),
	Guarantees: guarantees,
}

func guarantees(options map[string]string) []codecs.Guarantee {
	return slices.Concat(framework.Canonical(options, "spare bits of the last character are ignored, and correct padding is accepted"),
		framework.Unbound("the format binds only a salt, which the operator chooses"),
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.SteadyTiming, codecs.Total, codecs.ByteExact, codecs.PrivateKeys),
		codecs.HoldsBecause(codecs.Inert, "keys are stretched once for each secret; terms with functions are refused"),
		codecs.HoldsBecause(codecs.StrongKeys, "one secret of at least 32 bytes"),
		codecs.HoldsBecause(codecs.FreshNonces, "random 192-bit nonces"),
		codecs.Disclaims(codecs.KeySeparation, "the secret is an HMAC key, so a secret and the same secret with zero bytes appended are equivalent"),
		codecs.Disclaims(codecs.Expiry, "a token is still accepted during the millisecond in which it expires"),
		codecs.Disclaims(codecs.Rotation, "one secret, and no key ID in the token"),
		codecs.Disclaims(codecs.KeyCommitting, "Poly1305's tag is a polynomial: one ciphertext can be made to open under two known keys"),
		guarantee.RepeatedStream, guarantee.Symmetric, guarantee.Stateless,
	)
}
