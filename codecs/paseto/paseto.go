// Package paseto is the design paseto-local-v4: PASETO version 4, purpose local
// (github.com/paseto-standard/paseto-spec, docs/01-Protocol-Versions/Version4.md).
//
// Layout, with a payload of m bytes:
//
//	token = "v4.local." || base64url(n[32] || c[m] || t[32])
//	Ek[32] || n2[24] = BLAKE2b-448(key = secret, "paseto-encryption-key" || n)
//	Ak[32] = BLAKE2b-256(key = secret, "paseto-auth-key-for-aead" || n)
//	c = XChaCha20(Ek, n2, payload)
//	t = BLAKE2b-256(key = Ak, PAE("v4.local.", n, c, footer, implicit assertion))
//	PAE(x...) = LE64(number of x) || LE64(length of x) || x for each x
//
// Minted tokens have neither footer nor implicit assertion. Unseal accepts a
// token with a footer, which is authenticated but not returned. The secret is
// the key itself and has exactly 32 bytes. The payload is any bytes. The
// registered claims of PASETO would be JSON in it, which is left to the
// application.
//
// Only canonical base64url is accepted, as the test vectors 4-F-4 and 4-F-5
// demand. Under reading=sdk the codec answers as PyPI pyseto 1.10.0 does:
// Python's base64 decoder skips ASCII characters outside the alphabet and
// ignores spare bits.
//
// Limits: no practical limit, since n has 256 random bits. Payloads are bounded
// by memory.
//
// Limitations: no key ID and so no rotation. Package claims adds time, user and
// request. Each token allocates.
package paseto

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/chacha20"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/internal/lab"
)

const (
	prefix    = "v4.local."
	keySize   = 32
	nonceSize = 32
	tagSize   = 32
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
)

// format is version 4, local, under one key.
type format struct {
	key []byte
	sdk bool
}

func (f *format) SeedSize() int { return nonceSize }

// keyed returns n bytes of keyed BLAKE2b.
func keyed(n int, key []byte, parts ...[]byte) []byte {
	h, err := blake2b.New(n, key)
	if err != nil {
		panic("paseto: " + err.Error()) // sizes are constants
	}
	for _, p := range parts {
		h.Write(p) //nolint:errcheck // never fails
	}
	return h.Sum(nil)
}

// xor applies the key stream of a nonce to text in place.
func (f *format) xor(nonce, text []byte) []byte {
	derived := keyed(chacha20.KeySize+chacha20.NonceSizeX, f.key, []byte("paseto-encryption-key"), nonce)
	stream, err := chacha20.NewUnauthenticatedCipher(derived[:chacha20.KeySize], derived[chacha20.KeySize:])
	if err != nil {
		panic("paseto: " + err.Error()) // sizes are constants
	}
	out := make([]byte, len(text))
	stream.XORKeyStream(out, text)
	return out
}

// tag computes the tag of the header, the nonce, the ciphertext, the footer and
// the implicit assertion.
func (f *format) tag(nonce []byte, pieces ...[]byte) []byte {
	key := keyed(keySize, f.key, []byte("paseto-auth-key-for-aead"), nonce)
	return keyed(tagSize, key, encodePieces(pieces...))
}

// encodePieces is the pre-authentication encoding PAE.
func encodePieces(pieces ...[]byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(pieces)))
	for _, p := range pieces {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}

func (f *format) Mint(dst, seed, payload []byte, _ *codecs.Context, edit lab.Edit) ([]byte, error) {
	head := edit.Give(lab.StepPrefix, []byte(prefix))
	nonce := edit.Apply(lab.StepNonce, seed)
	body := f.xor(nonce, edit.Apply(lab.StepPayload, payload))
	tag := edit.Give(lab.StepTag, f.tag(nonce, head, nonce, body, nil, nil))
	return framework.Join(dst, edit, parts(head, nonce, body, tag)...), nil
}

func parts(head, nonce, body, tag []byte) []framework.Part {
	return []framework.Part{framework.Text(lab.WirePrefix, head), {Encoding: base64.RawURLEncoding, Fields: []framework.Piece{
		{Step: lab.WireNonce, Value: nonce}, {Step: lab.WireBody, Value: body}, {Step: lab.WireTag, Value: tag},
	}}}
}

func (f *format) Open(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	nonce, body, tag, footer, ok := parse(token, f.sdk)
	if !ok {
		return dst, errMalformed
	}
	return f.open(dst, nonce, body, tag, footer, nil)
}

func (f *format) open(dst, nonce, body, tag, footer, implicit []byte) ([]byte, error) {
	if subtle.ConstantTimeCompare(tag, f.tag(nonce, []byte(prefix), nonce, body, footer, implicit)) != 1 {
		return dst, errUnauthentic
	}
	return append(dst, f.xor(nonce, body)...), nil
}

// parse splits and decodes a token. An empty footer must have no separator.
func parse(token []byte, sdk bool) (nonce, body, tag, footer []byte, ok bool) {
	text, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return nil, nil, nil, nil, false
	}
	text, tail, has := bytes.Cut(text, []byte("."))
	decode := framework.DecodeURL
	if sdk {
		decode = lenient
	}
	raw, ok := decode(text)
	if footer, decoded := decode(tail); ok && decoded && (sdk || has == (len(footer) > 0)) && len(raw) >= nonceSize+tagSize {
		n := len(raw) - tagSize
		return raw[:nonceSize], raw[nonceSize:n], raw[n:], footer, true
	}
	return nil, nil, nil, nil, false
}

// lenient decodes a segment as pyseto does.
func lenient(text []byte) ([]byte, bool) {
	if bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || r == '.' }) {
		return nil, false
	}
	return framework.PythonDecode(framework.Padded(text))
}

// inspect splits a token into fields.
func inspect(token []byte) ([]lab.Field, error) {
	nonce, body, tag, footer, ok := parse(token, false)
	if !ok {
		return nil, errors.New("not a PASETO of version 4, purpose local")
	}
	all := parts([]byte(prefix), nonce, body, tag)
	if len(footer) > 0 {
		all = append(all, framework.Text(lab.WireSep, []byte(".")), framework.Encoded(base64.RawURLEncoding, stepFooter, footer))
	}
	return framework.Fields([]lab.Step{stepFooter}, all...), nil
}

// stepFooter is the step that writes a footer.
const stepFooter lab.Step = "wire-footer"

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "paseto-local-v4",
	Doc:     "PASETO v4.local: XChaCha20 with a keyed BLAKE2b tag",
	Spec:    "paseto-standard/paseto-spec, version 4, local",
	Prefix:  prefix,
	MaxKeys: 1, KeySize: keySize,
	Format:  "paseto-local-v4",
	Options: []codecs.Option{framework.Reading("pyseto")},
	NewCodec: func(c codecs.Config) (codecs.Codec, error) {
		return framework.NewCodec(c.Secrets, func(secret []byte) (framework.Format, error) {
			return &format{secret, framework.IsSDK(c.Options)}, nil
		})
	},
	Hooks: &lab.Hooks{
		Inspect: inspect,
		TokenSize: func(m int) int {
			return len(prefix) + base64.RawURLEncoding.EncodedLen(nonceSize+m+tagSize)
		},
		Allocates: "keys are derived for each token",
	},
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(options, "Python's base64 decoder skips foreign characters and ignores spare bits"), common)
	},
}

var common = slices.Concat(
	codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.SteadyTiming,
		codecs.Total, codecs.ByteExact, codecs.Inert, codecs.PrivateKeys),
	guarantee.ExactKey32,
	codecs.HoldsBecause(codecs.FreshNonces, "256 random bits for each token"),
	codecs.HoldsBecause(codecs.KeyCommitting, "a token that opens under two keys needs a collision of BLAKE2b-256"),
	guarantee.RepeatedStream, guarantee.OneKeyNoID,
	codecs.Disclaims(codecs.KeySeparation, "keys are derived for encryption and tag, and another use of BLAKE2b under the secret can collide with them"),
	guarantee.Symmetric,
)
