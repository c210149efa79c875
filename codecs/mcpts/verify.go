package mcpts

import (
	"bytes"
	"crypto/hmac"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
)

// The refusals, with the messages of the SDK's errors.
var (
	errMalformed = codecs.Reject(codecs.Malformed, "malformed")
	errMAC       = codecs.Reject(codecs.Unauthentic, "mac")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
	errBind      = codecs.Reject(codecs.Misbound, "bind")
)

// The refusals by exceptions that the SDK throws by accident: for claims that
// are null, and for a bind tag that is not a string but has a string's length.
var (
	errNullClaims = codecs.Reject(codecs.Malformed, "Cannot read properties of null (reading 'exp')")
	errNullTag    = codecs.Reject(codecs.Misbound, "Cannot read properties of null (reading 'length')")
	errListTag    = codecs.Reject(codecs.Misbound, "a.codePointAt is not a function")
)

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := b.Check(); err != nil {
		return dst, err
	}
	room := base64url.GetScratch()
	defer room.Free()
	text, refused := s.authenticate(room, token)
	if refused != nil {
		return dst, refused
	}
	if s.payload.isText {
		work := base64url.GetScratch()
		defer work.Free()
		if s.accept(work, text, b) {
			return append(dst, work.Bytes...), nil
		}
	}
	v, refused := s.parse(text)
	if refused != nil {
		return dst, refused
	}
	if refused := s.check(&v, b); refused != nil {
		return dst, refused
	}
	return s.payload.toState(dst, v.Lookup("p"))
}

// accept is a fast path that reads the text of the claims in one pass and
// leaves the state in work. It reports false unless Mint writes this text and
// the claims hold in the context. The caller then gets the reason from parse
// and check, which accept all claims that accept does.
func (s *scheme) accept(work *base64url.Scratch, text []byte, c *codecs.Context) bool {
	rest, ok := bytes.CutPrefix(text, []byte(beforePayload))
	if !ok || !rawjson.ValidUTF8(text) {
		return false
	}
	work.Grow(len(text))
	if work.Bytes, rest, ok = rawjson.Stringify.Cut(work.Bytes, rest); !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(beforeExpires))
	end := bytes.IndexAny(rest, ",}")
	if !ok || end < 0 {
		return false
	}
	expires := rawjson.ParseFloat(rest[:end]) // the comparison below refuses the value of other text
	size := len(work.Bytes)
	defer func() { work.Bytes = work.Bytes[:size] }()
	work.Bytes = rawjson.AppendJSNumber(work.Bytes, expires)
	// The comparison is written so that NaN is refused.
	if !bytes.Equal(work.Bytes[size:], rest[:end]) || !(expires >= float64(c.Now.Unix())) {
		return false
	}
	rest = rest[end:]
	if s.bind == nil {
		return string(rest) == "}"
	}
	rest, named := bytes.CutPrefix(rest, []byte(`,"b":"`))
	tag, ended := bytes.CutSuffix(rest, []byte(`"}`))
	want, err := s.appendBindTag(work.Bytes, c)
	return named && ended && err == nil && hmac.Equal(tag, want[len(work.Bytes):])
}

// authenticate returns the claims of a token with a valid mac, in room.
func (s *scheme) authenticate(room *base64url.Scratch, token []byte) ([]byte, *codecs.RejectError) {
	rest, ok := bytes.CutPrefix(token, prefixBytes)
	dot := layouts.LastSeparator(rest)
	if !ok || dot <= 0 {
		return nil, errMalformed
	}
	body := rest[:dot]
	if !s.decode(room, rest[dot+1:]) || !s.faithful && len(room.Bytes) != mac.Size {
		return nil, errMalformed
	}
	if !s.mac.Verify(room.Bytes, prefixBytes, framework.TextEncode(body)) {
		return nil, errMAC
	}
	room.Bytes = room.Bytes[:0]
	if !s.decode(room, body) {
		return nil, errMalformed
	}
	return room.Bytes, nil
}

// decode appends the decoded segment to room.
func (s *scheme) decode(room *base64url.Scratch, segment []byte) bool {
	return room.Decode(segment) || s.faithful && atob(room, segment)
}

var byteOrderMark = []byte("\ufeff")

// parse parses the claims as JSON.parse(new TextDecoder("utf-8", {fatal:
// true}).decode(text)) does. In the strict reading it also checks that they are
// canonical.
func (s *scheme) parse(text []byte) (v rawjson.Value, refused *codecs.RejectError) {
	plain := bytes.TrimPrefix(text, byteOrderMark) // a TextDecoder skips the mark
	if !utf8.Valid(plain) {
		return v, errMalformed
	}
	v, err := rawjson.Parse(plain)
	if err != nil {
		return v, errMalformed
	}
	if !s.faithful && !s.isCanonical(&v, text) {
		return v, errMalformed
	}
	return v, nil
}

// isCanonical reports whether Mint writes text for these claims.
func (s *scheme) isCanonical(v *rawjson.Value, text []byte) bool {
	payload, exp, tag := v.Lookup("p"), v.Lookup("exp"), v.Lookup("b")
	if payload == nil || exp == nil || exp.Kind != rawjson.Number {
		return false
	}
	state, err := s.payload.toState(nil, payload)
	if err != nil {
		return false
	}
	var bind []byte
	if tag != nil {
		bind = tag.Text
	}
	again, err := s.appendClaims(make([]byte, 0, len(text)), state, exp.Float(), bind)
	//mutant:equivalent the claims are written again and compared, which finds the same
	return err == nil && bytes.Equal(again, text)
}

// check verifies the claims in the order of the SDK.
func (s *scheme) check(v *rawjson.Value, b *codecs.Context) *codecs.RejectError {
	if v.Kind == rawjson.Null {
		return errNullClaims
	}
	exp := v.Lookup("exp")
	if exp == nil || exp.Kind != rawjson.Number || exp.Float() < float64(b.Now.Unix()) {
		return errExpired
	}
	return s.checkBind(v.Lookup("b"), b)
}

func (s *scheme) checkBind(tag *rawjson.Value, b *codecs.Context) *codecs.RejectError {
	if (tag == nil) != (s.bind == nil) {
		return errBind
	}
	if tag == nil {
		return nil
	}
	want, err := s.appendBindTag(nil, b)
	if err != nil {
		return errBind
	}
	if tag.Kind != rawjson.String {
		return refuseTag(tag, len(want))
	}
	if !hmac.Equal(tag.Text, want) {
		return errBind
	}
	return nil
}

// refuseTag returns the refusal that JavaScript gives when it compares a tag
// that is not a string with one of n characters.
func refuseTag(tag *rawjson.Value, n int) *codecs.RejectError {
	length := tag.Lookup("length")
	switch {
	case tag.Kind == rawjson.Null:
		return errNullTag
	case tag.Kind == rawjson.Array && len(tag.Items) == n:
		return errListTag
	case length != nil && length.Kind == rawjson.Number && length.Float() == float64(n):
		return errListTag
	default:
		return errBind
	}
}
