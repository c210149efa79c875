// Package jwe implements the designs jwe-dir-a256gcm and jwe-dir-a128cbc-hs256:
// JSON Web Encryption in compact serialization (RFC 7516) with direct
// encryption under a shared key (RFC 7518, section 4.5), as jose, joserfc and
// others mint it.
//
// Layout, with a payload of m bytes:
//
//	header = base64url({"alg":"dir","enc":"A256GCM"})
//	token  = header || ".." || base64url(iv) || "." || base64url(ciphertext) || "." || base64url(tag)
//	associated data = header
//
// Tokens of A256GCM begin with "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..", those of
// A128CBC-HS256 with "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0..":
//
//	A256GCM        AES-256-GCM, iv of 12 bytes, ciphertext of m, tag of 16
//	A128CBC-HS256  AES-128-CBC with PKCS #7 padding, iv of 16 bytes, tag =
//	               HMAC-SHA256(key[:16], header || iv || ciphertext || 64-bit length of header in bits)[:16],
//	               encryption key = key[16:]
//
// The secret is the key itself and has exactly 32 bytes. Mint writes the header
// above, so every token begins with the design's prefix. Unseal accepts any
// header that is a JSON object with these values of alg and enc, without zip
// and crit.
//
// Under reading=sdk the codec answers as npm jose 6.2.17 does on Node.js 20.
// Segments are decoded by atob, which skips white space and ignores spare bits
// and correct padding. The header is read as TextDecoder and JSON.parse do: it
// may begin with a byte order mark, and the last of equal names counts. Under
// reading=strict, the default, each segment must be canonical, as in PyPI
// joserfc 1.8.0, and the names in the header must differ.
//
// Limits: a random 96-bit iv allows 2^32 tokens per key under A256GCM (NIST SP
// 800-38D, section 8.3). Payloads are bounded by memory.
//
// Limitations: no key ID and so no rotation, no key separation, no commitment
// to the key, no nonce misuse resistance. Parsing the header as JSON allocates.
package jwe

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// byteOrderMark is U+FEFF, which TextDecoder removes at the beginning of a
// text.
const byteOrderMark = "\ufeff"

// keySize is the length in bytes of the secret of both encryptions.
const keySize = 32

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errHeader      = codecs.Reject(codecs.Malformed, "header")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errTag         = errors.New("jwe: message authentication failed")
)

// An encryption is one value of enc.
type encryption struct {
	name      string
	nonceSize int
	block     int // block size in bytes that the plaintext is padded to; 0: no padding
	open      func(key []byte) (cipher.AEAD, error)
}

var (
	a256GCM = encryption{"A256GCM", 12, 0, keyring.AESGCM}
	a128CBC = encryption{"A128CBC-HS256", 16, 16, newCBC}
)

const tagSize = 16

// header returns the first segment of minted tokens.
func (e encryption) header() string {
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"dir","enc":"` + e.name + `"}`))
}

func (e encryption) tokenSize(m int) int {
	if e.block > 0 {
		m += e.block - m%e.block
	}
	return len(e.header()) + len("....") + base64.RawURLEncoding.EncodedLen(e.nonceSize) +
		base64.RawURLEncoding.EncodedLen(m) + base64.RawURLEncoding.EncodedLen(tagSize)
}

// A format is an encryption under a key.
type format struct {
	encryption
	aead cipher.AEAD
	sdk  bool
}

func (e encryption) newCodec(c codecs.Config) (codecs.Codec, error) {
	return framework.NewCodec(c.Secrets, func(secret []byte) (framework.Format, error) {
		a, err := e.open(secret)
		return &format{e, a, framework.IsSDK(c.Options)}, err
	})
}

func (f *format) SeedSize() int { return f.nonceSize }

var separator = []byte(".")

func (f *format) Mint(dst, seed, payload []byte, _ *codecs.Context, edit lab.Edit) ([]byte, error) {
	prefix := edit.Give(lab.StepPrefix, []byte(f.header()+".."))
	nonce := edit.Apply(lab.StepNonce, seed)
	payload = edit.Apply(lab.StepPayload, payload)
	data := edit.Give(lab.StepAAD, bytes.TrimRight(slices.Clone(prefix), "."))
	if len(nonce) != f.nonceSize {
		return dst, codecs.ErrUnsupported
	}
	sealed := f.aead.Seal(nil, nonce, payload, data)
	n := len(sealed) - tagSize
	return framework.Join(dst, edit, parts(prefix, nonce, sealed[:n], sealed[n:])...), nil
}

func parts(prefix, nonce, body, tag []byte) []framework.Part {
	e := base64.RawURLEncoding
	return []framework.Part{
		framework.Text(lab.WirePrefix, prefix),
		framework.Encoded(e, lab.WireNonce, nonce), framework.Text(lab.WireSep, separator),
		framework.Encoded(e, lab.WireBody, body), framework.Text(lab.WireSep, separator),
		framework.Encoded(e, lab.WireTag, tag),
	}
}

func (f *format) Open(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	header, nonce, sealed, ok := f.parse(token, f.sdk)
	if !ok {
		return dst, errMalformed
	}
	if !f.accepts(header, f.sdk) {
		return dst, errHeader
	}
	out, err := f.aead.Open(nil, nonce, sealed, header)
	if err != nil {
		return dst, errUnauthentic
	}
	return append(dst, out...), nil
}

// parse splits a token and decodes all segments but the header.
func (e encryption) parse(token []byte, sdk bool) (header, nonce, sealed []byte, ok bool) {
	segments := bytes.SplitN(token, separator, 6)
	if len(segments) != 5 || len(segments[1]) != 0 {
		return nil, nil, nil, false
	}
	decode := decoder(sdk)
	nonce, ok1 := decode(segments[2])
	body, ok2 := decode(segments[3])
	tag, ok3 := decode(segments[4])
	ok = ok1 && ok2 && ok3 && len(nonce) == e.nonceSize && len(tag) == tagSize
	return segments[0], nonce, append(body, tag...), ok
}

// decoder returns the segment decoder of a reading.
func decoder(sdk bool) func(text []byte) ([]byte, bool) {
	if sdk {
		return lenient
	}
	return framework.DecodeURL
}

// lenient decodes a segment as jose does on Node.js 20.
func lenient(text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "+/") {
		return nil, false
	}
	return framework.AtobDecode(nil, text)
}

// accepts reports whether a header selects this encryption and nothing else.
func (e encryption) accepts(text []byte, sdk bool) bool {
	if string(text) == e.header() {
		return true
	}
	raw, ok := decoder(sdk)(text)
	if !ok {
		return false
	}
	if sdk {
		raw = bytes.TrimPrefix(raw, []byte(byteOrderMark))
		ok = utf8.Valid(raw)
	} else {
		ok = rawjson.Valid(raw)
	}
	v, err := rawjson.Parse(raw)
	if err != nil || !ok || v.Kind != rawjson.Object || !sdk && len(rawjson.FirstPlaces(v.Members)) != len(v.Members) {
		return false
	}
	return v.Lookup("alg").IsString("dir") && v.Lookup("enc").IsString(e.name) && v.Lookup("zip") == nil && v.Lookup("crit") == nil
}

// inspect splits a token into fields.
func (e encryption) inspect(token []byte) ([]lab.Field, error) {
	header, nonce, sealed, ok := e.parse(token, false)
	if !ok || !e.accepts(header, false) || len(sealed) < e.block+tagSize {
		return nil, errors.New("not a JWE with alg dir and enc " + e.name)
	}
	raw, _ := framework.DecodeURL(header)
	n := len(sealed) - tagSize
	fields := framework.Fields(nil, parts(append(slices.Clone(header), ".."...), nonce, sealed[:n], sealed[n:])...)
	fields[0].Bytes = raw
	return fields, nil
}

// cbc is A128CBC-HS256 under one key.
type cbc struct {
	block cipher.Block
	mac   *mac.Key
}

func newCBC(key []byte) (cipher.AEAD, error) {
	if len(key) != keySize {
		return nil, aes.KeySizeError(len(key))
	}
	block, err := aes.NewCipher(key[keySize/2:])
	return &cbc{block, mac.New(key[:keySize/2])}, err
}

func (c *cbc) NonceSize() int { return aes.BlockSize }
func (c *cbc) Overhead() int  { return aes.BlockSize + tagSize }

// tag returns the tag (RFC 7518, section 5.2.2.1).
func (c *cbc) tag(nonce, body, data []byte) []byte {
	bits := binary.BigEndian.AppendUint64(nil, uint64(len(data))*8)
	return c.mac.Append(nil, data, nonce, body, bits)[:tagSize]
}

func (c *cbc) Seal(dst, nonce, plaintext, data []byte) []byte {
	body := framework.SealCBC(c.block, nonce, plaintext)
	return append(append(dst, body...), c.tag(nonce, body, data)...)
}

// Open verifies the tag before it decrypts.
func (c *cbc) Open(dst, nonce, sealed, data []byte) ([]byte, error) {
	n := len(sealed) - tagSize
	//mutant:equivalent parse refuses tags of another length first
	if n < 0 {
		return nil, errTag
	}
	if subtle.ConstantTimeCompare(c.tag(nonce, sealed[:n], data), sealed[n:]) != 1 {
		return nil, errTag
	}
	out, ok := framework.OpenCBC(c.block, nonce, sealed[:n])
	if !ok {
		return nil, errTag
	}
	return append(dst, out...), nil
}

// The catalog rows.
var (
	GCM = a256GCM.design("jwe-dir-a256gcm", "JWE with a shared key: AES-256-GCM, as jose and joserfc mint it", slices.Concat(
		guarantee.Nonce96, guarantee.GCMTwoKeys, guarantee.RepeatedStream,
	))
	CBC = a128CBC.design("jwe-dir-a128cbc-hs256", "JWE with a shared key: AES-128-CBC and HMAC-SHA256, as jose and joserfc mint it", slices.Concat(
		guarantee.IV128,
		codecs.Disclaims(codecs.KeyCommitting, "the tag key does not determine the encryption key: two secrets with the same tag key open one token"),
		codecs.Disclaims(codecs.NonceMisuseResistant, "a repeated initialization vector reveals how many leading blocks two payloads share"),
	))
)

func (e encryption) design(name, doc string, own []codecs.Guarantee) codecs.Design {
	return codecs.Design{
		Name: name, Doc: doc, Format: name,
		Options: []codecs.Option{framework.Reading("jose")},
		Spec:    "RFC 7516, RFC 7518 (dir, " + e.name + ")",
		Prefix:  e.header() + "..",
		MaxKeys: 1, KeySize: keySize,
		NewCodec: e.newCodec,
		Hooks: &lab.Hooks{
			Inspect: e.inspect, TokenSize: e.tokenSize, FewVectors: true,
			Allocates: "segments are decoded to buffers of their own",
		},
		Guarantees: func(options map[string]string) []codecs.Guarantee {
			return slices.Concat(own, framework.Canonical(options, "segments are decoded by atob: white space, padding and spare bits are accepted"), common)
		},
	}
}

var common = slices.Concat(
	codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.ByteExact, codecs.Inert, codecs.PrivateKeys),
	guarantee.ExactKey32, guarantee.AESTiming, guarantee.OneKeyNoID, guarantee.KeyItself,
	guarantee.Symmetric,
)
