// Package signedtext implements the designs itsdangerous and django-signing:
// JSON in base64url, the time of minting, and an HMAC over both. They are the
// formats of URLSafeTimedSerializer of itsdangerous (PyPI 2.2.0) and of
// django.core.signing.dumps (PyPI Django 5.2.19).
//
// Layout of itsdangerous:
//
//	value = base64url(JSON) || "." || base64url(time, big endian, without leading zeros)
//	token = value || "." || base64url(HMAC-SHA1(SHA-1("itsdangerous" || "signer" || secret), value))
//
// Layout of django-signing:
//
//	value = base64url(JSON) || ":" || base62(time)
//	token = value || ":" || base64url(HMAC-SHA256(SHA-256("django.core.signing" || "signer" || secret), value))
//
// Times are Unix seconds. "itsdangerous" and "django.core.signing" are the
// libraries' default salts. The first secret of the ring mints, each verifies.
// The token does not hold the time to live; the reader sets it.
//
// Under the option payload=text, the default, the JSON is a string and the state its
// text. Under payload=json the state is a JSON text. Mint writes it as json.dumps does,
// and Verify returns it in ASCII.
//
// For Django, Mint writes ASCII JSON, because Django reads JSON as Latin-1, and
// refuses states that are not WTF-8. For itsdangerous it writes UTF-8 and
// refuses states that are not UTF-8, because itsdangerous cannot mint lone
// surrogates.
//
// A full stop before the value marks JSON that is compressed with zlib. Verify
// inflates it, up to 16 MiB and after authentication. Mint does not compress,
// although itsdangerous does so if that makes the token shorter.
//
// JSON with an integer of more than 4300 digits, or nested deeper than 900, is
// refused. These approximate the limits of CPython, whose recursion limit also
// counts the callers.
//
// Under reading=sdk the scheme answers as the library does. Python's base64
// decoder reads the signature of itsdangerous; it skips characters outside the
// alphabet and ignores spare bits. Django compares the texts of signatures.
// Under reading=strict, the default, every segment must be canonical.
//
// Limitations: the state is readable, no binding to user or request, no single
// use. Django accepts times of minting in the future. Tokens have no key ID.
package signedtext

import (
	"bytes"
	"compress/zlib"
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "signature")
	errPayload     = codecs.Reject(codecs.Malformed, "payload")
	errExpired     = codecs.Reject(codecs.Expired, "expired")
	errFuture      = codecs.Reject(codecs.Expired, "in the future")
)

// maxInflated is the maximum length of inflated JSON in bytes.
const maxInflated = 16 << 20

// A style describes the format of one of the libraries.
type style struct {
	separator  string
	salt       string
	newHash    func() hash.Hash
	appendTime func(dst []byte, seconds int64) []byte
	readTime   func(text []byte, sdk bool) (seconds float64, ok bool)
	decode     func(signature []byte) ([]byte, bool) // as the library does
	last       int64                                 // the last second that a reader accepts; 0: no limit
	unicode    bool                                  // the JSON is UTF-8, not ASCII
	latin1     bool                                  // the token is text, and its JSON is read as Latin-1
	future     bool                                  // accept times in the future
	fraction   bool                                  // the reader's clock has fractions of a second
}

// A format is a style under one key.
type format struct {
	*style
	key    []byte
	ttl    time.Duration
	sdk    bool
	asJSON bool
}

func (s *style) format(secret []byte, ttl time.Duration, options map[string]string) framework.Format {
	h := s.newHash()
	io.WriteString(h, s.salt+"signer") //nolint:errcheck // never fails
	h.Write(secret)
	return &format{s, h.Sum(nil), ttl, framework.IsSDK(options), framework.IsJSON(options)}
}

func (f *format) SeedSize() int { return 0 }

func (f *format) sign(value []byte) []byte {
	h := hmac.New(f.newHash, f.key)
	h.Write(value)
	return h.Sum(nil)
}

func (f *format) Mint(dst, _, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	now := c.Now.Unix()
	claims, err := f.toJSON(state)
	if err != nil || now <= 0 || f.last > 0 && now > f.last && !f.sdk {
		return dst, codecs.ErrUnsupported
	}
	claims = edit.Give(lab.StepClaims, claims)
	text := edit.Give(lab.StepText, base64.RawURLEncoding.AppendEncode(nil, claims))
	at := edit.Give(lab.StepTime, f.appendTime(nil, now))
	separator := []byte(f.separator)
	tag := edit.Give(lab.StepTag, f.sign(slices.Concat(text, separator, at)))
	return framework.Join(dst, edit, f.parts(text, at, tag)...), nil
}

func (s *style) parts(text, at, tag []byte) []framework.Part {
	separator := framework.Text(lab.WireSep, []byte(s.separator))
	return []framework.Part{
		framework.Text(lab.WireText, text), separator, framework.Text(lab.WireTime, at), separator,
		framework.Encoded(base64.RawURLEncoding, lab.WireTag, tag),
	}
}

// toJSON returns the JSON text of a state.
func (f *format) toJSON(state []byte) ([]byte, error) {
	if f.unicode {
		return f.toUnicode(state)
	}
	if f.asJSON {
		v, err := compactjson.LoadsText(state)
		if err != nil {
			return nil, err
		}
		return compactjson.AppendValue(nil, &v), nil
	}
	if !rawjson.ValidWTF8(state) {
		return nil, codecs.ErrUnsupported
	}
	return compactjson.AppendString(nil, state), nil
}

// toUnicode returns the JSON text of a state without escapes for characters
// beyond ASCII. It is not UTF-8 if the state has lone surrogates.
func (f *format) toUnicode(state []byte) ([]byte, error) {
	v := rawjson.Value{Kind: rawjson.String, Text: state}
	if f.asJSON {
		var err error
		if v, err = compactjson.LoadsText(state); err != nil {
			return nil, err
		}
	}
	text := compactjson.Unicode.AppendValue(nil, &v)
	if !utf8.Valid(state) || !utf8.Valid(text) {
		return nil, codecs.ErrUnsupported
	}
	return text, nil
}

func (f *format) Open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	value, text, at, signature, ok := f.cut(token)
	if !ok ||
		f.latin1 && !utf8.Valid(token) { //mutant:equivalent the tokens of vectors are UTF-8
		return dst, errMalformed
	}
	tag, ok := framework.DecodeURL(signature)
	if f.sdk {
		tag, ok = f.decode(signature)
	}
	if !ok {
		return dst, errMalformed
	}
	if !hmac.Equal(tag, f.sign(value)) {
		return dst, errUnauthentic
	}
	if refused := f.judge(at, c.Now); refused != nil {
		return dst, refused
	}
	return f.payload(dst, text)
}

// cut splits the text of a token.
func (s *style) cut(token []byte) (value, text, at, signature []byte, ok bool) {
	separator := []byte(s.separator)
	i := bytes.LastIndex(token, separator)
	if i < 0 {
		return nil, nil, nil, nil, false
	}
	value, signature = token[:i], token[i+1:]
	j := bytes.LastIndex(value, separator)
	if j < 0 {
		return nil, nil, nil, nil, false
	}
	return value, value[:j], value[j+1:], signature, true
}

// judge compares the time of minting with that of the call.
func (f *format) judge(at []byte, now time.Time) *codecs.RejectError {
	minted, ok := f.readTime(at, f.sdk)
	if !ok {
		return errMalformed
	}
	seconds := float64(now.Unix())
	if f.fraction {
		seconds = framework.Seconds(now)
	}
	if age := seconds - minted; age > f.ttl.Seconds() {
		return errExpired
	} else if age < 0 && !f.future {
		return errFuture
	}
	return nil
}

// payload appends the state of an authentic text.
func (f *format) payload(dst, text []byte) ([]byte, error) {
	doc, ok := f.document(text)
	if !ok {
		return dst, errPayload
	}
	v, err := compactjson.LoadsText(doc)
	if err != nil || f.unicode && !utf8.Valid(doc) {
		return dst, errPayload
	}
	if f.asJSON {
		return compactjson.AppendValue(dst, &v), nil
	}
	if v.Kind != rawjson.String {
		return dst, codecs.ErrUnsupported // the library accepts it, but it holds no text
	}
	return append(dst, v.Text...), nil
}

// document decodes and, if necessary, inflates the JSON of a text.
func (f *format) document(text []byte) ([]byte, bool) {
	text, compressed := bytes.CutPrefix(text, []byte("."))
	doc, ok := framework.DecodeURL(text)
	if f.sdk {
		doc, ok = framework.PythonDecode(framework.Padded(text))
	}
	if ok && compressed {
		doc, ok = inflate(doc)
	}
	if ok && f.latin1 {
		doc = fromLatin1(doc)
	}
	return doc, ok
}

// fromLatin1 converts a text from Latin-1 to UTF-8.
func fromLatin1(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, c := range text {
		out = utf8.AppendRune(out, rune(c))
	}
	return out
}

func inflate(doc []byte) ([]byte, bool) {
	r, err := zlib.NewReader(bytes.NewReader(doc))
	if err != nil {
		return nil, false
	}
	out, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	return out, err == nil &&
		len(out) <= maxInflated //mutant:equivalent no vector is as long
}

// inspect splits a token with canonical segments into fields.
func (s *style) inspect(token []byte) ([]lab.Field, error) {
	_, text, at, signature, ok := s.cut(token)
	seconds, timed := s.readTime(at, false)
	tag, canonical := framework.DecodeURL(signature)
	body, compressed := bytes.CutPrefix(text, []byte("."))
	doc, decoded := framework.DecodeURL(body)
	if !ok || !timed || !canonical || !decoded || len(tag) != s.newHash().Size() {
		return nil, errors.New("not base64url, time and signature, joined by " + s.separator)
	}
	if compressed {
		doc, ok = inflate(doc)
	}
	if _, err := compactjson.Parse(doc); !ok || err != nil {
		return nil, errors.New("the payload is not JSON")
	}
	fields := framework.Fields(nil, s.parts(text, at, tag)...)
	fields[0].Name, fields[0].Bytes = lab.WireBody, doc
	fields[2].Time = time.Unix(int64(seconds), 0)
	return fields, nil
}
