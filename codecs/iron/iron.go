// Package iron is the design iron: the sealed cookies of hapi, h3 and iron-session
// (npm @hapi/iron 7.0.1 and iron-webcrypto 2.0.0, format Fe26.2).
//
// Layout:
//
//	base  = "Fe26.2" || "*" || id || "*" || salt || "*" || base64url(iv[16]) ||
//	        "*" || base64url(ciphertext) || "*" || expiry
//	token = base || "*" || salt' || "*" || base64url(tag)
//	tag   = HMAC-SHA256(PBKDF2(secret, salt', 1), base)
//	ciphertext = AES-256-CBC(PBKDF2(secret, salt, 1), iv, JSON with PKCS #7 padding)
//	PBKDF2     = with HMAC-SHA1 and one iteration, 32 bytes
//
// The salts are 32 random bytes in lower-case hexadecimal, and PBKDF2 uses that
// text. id is empty in minted tokens and is ignored. expiry is Unix time in
// milliseconds. The libraries also mint tokens without it, which never expire.
// The secret is the password, as text.
//
// A token is valid until 60 seconds after its expiry (timestampSkewSec). The
// tag is verified first here, although the libraries check the expiry first.
//
// Under the option payload=text, the default, the JSON is a string and the
// state its text. Mint refuses states that are not WTF-8. Under payload=json
// the state is a JSON text, which Verify returns as JSON.stringify writes it.
//
// Under reading=sdk the scheme answers as iron-webcrypto does. The tag's
// segment is padded and decoded by atob, as on Node.js 20, with - and _ for +
// and /; atob skips white space and ignores spare bits. Tokens need no expiry.
// Invalid UTF-8 in the JSON and lone surrogates in salts become replacement
// characters. Under reading=strict, the default, the tag must be canonical, as
// in @hapi/iron, salts have 64 digits, and a token must have an expiry.
//
// Limitations: one iteration of PBKDF2 does not slow the search for a weak
// password. No binding to user or request, no single use.
package iron

import (
	"bytes"
	"crypto/aes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

const (
	magic    = "Fe26.2"
	prefix   = magic + "*"
	saltSize = 32 // random bytes
	keySize  = 32
	skew     = time.Minute
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "hmac")
	errSealed      = codecs.Reject(codecs.Malformed, "sealed object")
	errExpired     = codecs.Reject(codecs.Expired, "expired")
)

// The steps that only this format has.
const (
	stepMACSalt lab.Step = "mac-salt"
	stepExpiry  lab.Step = "expiry"
	wireID      lab.Step = "wire-password-id"
	wireSalt    lab.Step = "wire-salt"
	wireExpiry  lab.Step = "wire-expiry"
	wireMACSalt lab.Step = "wire-mac-salt"
)

// A format is Fe26.2 under one password.
type format struct {
	password string
	ttl      time.Duration
	sdk      bool
	asJSON   bool
}

func (f *format) SeedSize() int { return 2*saltSize + aes.BlockSize }

// key derives a key from the password. It cannot fail with these sizes.
func (f *format) key(salt []byte) []byte {
	key, err := pbkdf2.Key(sha1.New, f.password, salt, 1, keySize)
	if err != nil {
		panic("iron: " + err.Error())
	}
	return key
}

func (f *format) tag(salt, base []byte) []byte {
	h := hmac.New(sha256.New, f.key(salt))
	h.Write(base)
	return h.Sum(nil)
}

func (f *format) Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	claims, err := f.toJSON(state)
	if err != nil {
		return dst, codecs.ErrUnsupported
	}
	until := framework.Milliseconds(c.Now.Add(f.ttl))
	if until <= 0 || until == math.MaxInt64 {
		return dst, codecs.ErrUnsupported
	}
	head := edit.Give(lab.StepPrefix, []byte(magic))
	salt := edit.Give(lab.StepSalt, hex.AppendEncode(nil, seed[:saltSize]))
	iv := edit.Apply(lab.StepNonce, seed[saltSize:saltSize+aes.BlockSize])
	claims = edit.Give(lab.StepClaims, claims)
	expiry := edit.Give(stepExpiry, strconv.AppendInt(nil, until, 10))
	macSalt := edit.Give(stepMACSalt, hex.AppendEncode(nil, seed[saltSize+aes.BlockSize:]))
	block, err := aes.NewCipher(f.key(salt))
	if err != nil || len(iv) != aes.BlockSize {
		return dst, codecs.ErrUnsupported
	}
	all := parts(head, nil, salt, iv, framework.SealCBC(block, iv, claims), expiry, macSalt, nil)
	base := framework.Join(nil, nil, all[:baseParts]...)
	all[len(all)-1] = framework.Encoded(base64.RawURLEncoding, lab.WireTag, edit.Give(lab.StepTag, f.tag(macSalt, base)))
	return framework.Join(dst, edit, all...), nil
}

// baseParts is the number of parts before the salt of the tag, all
// authenticated.
const baseParts = 11

func parts(head, id, salt, iv, body, expiry, macSalt, tag []byte) []framework.Part {
	star := framework.Text(lab.WireSep, []byte("*"))
	return []framework.Part{
		framework.Text(lab.WirePrefix, head), star, framework.Text(wireID, id), star, framework.Text(wireSalt, salt), star,
		framework.Encoded(base64.RawURLEncoding, lab.WireNonce, iv), star,
		framework.Encoded(base64.RawURLEncoding, lab.WireBody, body), star, framework.Text(wireExpiry, expiry), star,
		framework.Text(wireMACSalt, macSalt), star, framework.Encoded(base64.RawURLEncoding, lab.WireTag, tag),
	}
}

// toJSON returns the JSON text of a state.
func (f *format) toJSON(state []byte) ([]byte, error) {
	if !f.asJSON {
		if !rawjson.ValidWTF8(state) {
			return nil, codecs.ErrUnsupported
		}
		return rawjson.Stringify.Append(nil, state), nil
	}
	v, err := rawjson.Parse(state)
	if err != nil || !rawjson.Valid(state) {
		return nil, codecs.ErrUnsupported
	}
	return rawjson.Stringify.AppendValue(nil, &v), nil
}

// segments are the parts of a token, as text.
type segments struct{ base, salt, iv, body, expiry, macSalt, tag []byte }

func cut(token []byte) (s segments, ok bool) {
	all := bytes.SplitN(token, []byte("*"), 9)
	if len(all) != 8 || string(all[0]) != magic {
		return s, false
	}
	base := token[:len(token)-len(all[7])-len(all[6])-2]
	return segments{base, all[2], all[3], all[4], all[5], all[6], all[7]}, true
}

func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	if f.sdk {
		token = framework.TextEncode(token)
	}
	s, ok := cut(token)
	if !ok || !f.dated(s.expiry) || !f.salted(s.salt) || !f.salted(s.macSalt) {
		return dst, errMalformed
	}
	tag, ok := framework.DecodeURL(s.tag)
	if f.sdk {
		tag, ok = lenient(s.tag)
	}
	if !ok {
		return dst, errMalformed
	}
	if !hmac.Equal(tag, f.tag(s.macSalt, s.base)) {
		return dst, errUnauthentic
	}
	if until, err := strconv.ParseFloat(string(s.expiry), 64); err == nil && until <= float64(framework.Milliseconds(c.Now.Add(-skew))) {
		return dst, errExpired
	}
	claims, ok := f.decrypt(s)
	//mutant:equivalent claims that do not decrypt are empty, which is no JSON
	if !ok {
		return dst, errSealed
	}
	return f.payload(dst, claims)
}

// lenient decodes a segment as iron-webcrypto does on Node.js 20.
func lenient(text []byte) ([]byte, bool) { return framework.AtobDecode(nil, framework.Padded(text)) }

var (
	expiryPattern = regexp.MustCompile(`^[1-9][0-9]*$`)
	mintedExpiry  = regexp.MustCompile(`^[1-9][0-9]{0,15}$`) // JavaScript times have at most 16 digits
	mintedSalt    = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// dated reports whether the reading accepts the form of the expiry.
func (f *format) dated(expiry []byte) bool {
	if f.sdk {
		return len(expiry) == 0 || expiryPattern.Match(expiry)
	}
	return mintedExpiry.Match(expiry)
}

// salted reports whether the reading accepts the form of a salt.
func (f *format) salted(salt []byte) bool {
	return mintedSalt.Match(salt) || f.sdk && len(salt) > 0
}

// decrypt returns the JSON of an authentic token.
func (f *format) decrypt(s segments) ([]byte, bool) {
	iv, ok1 := framework.DecodeURL(s.iv)
	body, ok2 := framework.DecodeURL(s.body)
	if f.sdk {
		iv, ok1 = lenient(s.iv)
		body, ok2 = lenient(s.body)
	}
	block, err := aes.NewCipher(f.key(s.salt))
	//mutant:equivalent the segments are authentic, and sealing encodes them; the derived key has the right size
	if !ok1 || !ok2 || err != nil {
		return nil, false
	}
	return framework.OpenCBC(block, iv, body)
}

// payload appends the state in a JSON text.
func (f *format) payload(dst, doc []byte) ([]byte, error) {
	if f.sdk {
		doc = framework.TextDecode(doc)
	}
	v, err := rawjson.Parse(doc)
	switch {
	case err != nil || !utf8.Valid(doc):
		return dst, errSealed
	case f.asJSON:
		return rawjson.Stringify.AppendValue(dst, &v), nil
	case v.Kind != rawjson.String:
		return dst, codecs.ErrUnsupported // the library accepts it, but it holds no text
	}
	return append(dst, v.Text...), nil
}

// inspect splits a token with canonical segments into fields.
func inspect(token []byte) ([]lab.Field, error) {
	s, ok := cut(token)
	iv, ok1 := framework.DecodeURL(s.iv)
	body, ok2 := framework.DecodeURL(s.body)
	tag, ok3 := framework.DecodeURL(s.tag)
	if !ok || !ok1 || !ok2 || !ok3 || len(iv) != aes.BlockSize || len(tag) != sha256.Size {
		return nil, errors.New("not an Iron token of format " + magic)
	}
	id := bytes.Split(token, []byte("*"))[1]
	fields := framework.Fields(nil, parts([]byte(magic), id, s.salt, iv, body, s.expiry, s.macSalt, tag)...)
	if at, err := strconv.ParseInt(string(s.expiry), 10, 64); err == nil {
		fields[10].Time = time.UnixMilli(at)
	}
	return fields, nil
}

// Design is the catalog row.
var Design = codecs.Design{
	Name:    "iron",
	Doc:     "Iron (hapi, h3, iron-session): AES-256-CBC and HMAC-SHA256 under a password",
	Spec:    "npm @hapi/iron 7.0.1, iron-webcrypto 2.0.0, format Fe26.2",
	Prefix:  prefix,
	Format:  "iron",
	MaxKeys: 1,
	Options: []codecs.Option{
		framework.Reading("iron-webcrypto"),
		framework.Payload,
	},
	Hooks: &lab.Hooks{Inspect: inspect, Other: "*", Grace: skew, FewVectors: true, Allocates: "segments are decoded to buffers of their own"},
	NewScheme: framework.SchemeOpener(func(secret []byte, ttl time.Duration, options map[string]string) (framework.Format, error) {
		return &format{string(secret), ttl, framework.IsSDK(options), framework.IsJSON(options)}, nil
	}),
	Guarantees: func(options map[string]string) []codecs.Guarantee {
		return slices.Concat(framework.Canonical(options, "the segment of the tag is decoded by atob: white space, + and /, padding and spare bits are accepted"),
			framework.ByteExact(options, guarantee.WTF8, "JSON.stringify"), framework.Unbound("the format does not bind the request"),
			codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.UniformRefusal, codecs.Total, codecs.PrivateKeys),
			codecs.HoldsBecause(codecs.Inert, "one iteration of PBKDF2 for each key"),
			codecs.HoldsBecause(codecs.StrongKeys, "one password of at least 32 bytes"),
			guarantee.AESTiming,
			codecs.HoldsBecause(codecs.FreshNonces, "each token has keys of its own from 256-bit salts, and a random 128-bit initialization vector"),
			codecs.Disclaims(codecs.Expiry, "a token is accepted until 60 seconds after its expiry, and the format has no time of issue"),
			codecs.Disclaims(codecs.Rotation, "one password; the libraries choose among several by the id in the token"),
			codecs.Disclaims(codecs.KeyCommitting, "HMAC pads passwords with zeros and hashes those over 64 bytes, so different passwords can be equivalent"),
			codecs.Disclaims(codecs.NonceMisuseResistant, "repeated salts and initialization vectors reveal how many leading blocks two states share"),
			codecs.Disclaims(codecs.KeySeparation, "the password itself is the input of the key derivation, and different passwords can be equivalent under HMAC"),
			codecs.Disclaims(codecs.SenderAuthenticated, "one password: whoever can open tokens can mint them"),
			guarantee.Stateless,
		)
	},
}
