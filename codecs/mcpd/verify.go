package mcpd

import (
	"bytes"
	"crypto/hmac"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
)

// The refusals. The SDK gives the same answer for all.
var (
	errMalformed = codecs.Reject(codecs.Malformed, "malformed")
	errMAC       = codecs.Reject(codecs.Unauthentic, "mac")
	errSeal      = codecs.Reject(codecs.Unauthentic, "seal")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
	errBind      = codecs.Reject(codecs.Misbound, "bind")
)

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := b.Check(); err != nil {
		return dst, err
	}
	decode := canonical
	if s.faithful {
		decode = lenient
	}
	room, work := base64url.GetScratch(), base64url.GetScratch()
	defer room.Wipe(len(token))
	defer work.Wipe(len(token))
	work.Bytes = s.appendBindTag(work.Bytes, b)
	bind := work.Bytes
	text, refused := s.mode.open(room, token, bind, decode)
	if refused != nil {
		return dst, refused
	}
	if state, ok := accept(work, text, b.Now.Unix()); ok {
		return append(dst, state...), nil
	}
	c, refused := s.parse(text)
	if refused != nil {
		return dst, refused
	}
	if refused := c.check(bind, b.Now); refused != nil {
		return dst, refused
	}
	return append(dst, c.state...), nil
}

// accept is a fast path that reads the text of the claims in one pass. work
// holds the bind tag of the context; the state is appended to it. accept
// reports false unless Mint writes this text and the claims hold. The caller
// then gets the reason from parse and check, which accept all claims that
// accept does.
func accept(work *base64url.Scratch, text []byte, now int64) (state []byte, ok bool) {
	bind := work.Bytes
	rest, ok := bytes.CutPrefix(text, []byte(beforeState))
	if !ok || !rawjson.ValidUTF8(text) {
		return nil, false
	}
	work.Grow(len(text))
	if work.Bytes, rest, ok = vibeString.Cut(work.Bytes, rest); !ok {
		return nil, false
	}
	state = work.Bytes[len(bind):]
	rest, named := bytes.CutPrefix(rest, []byte(beforeBind+`"`))
	if !named || len(rest) < len(bind) || !hmac.Equal(rest[:len(bind)], bind) {
		return nil, false
	}
	rest, timed := bytes.CutPrefix(rest[len(bind):], []byte(`"`+beforeExpires))
	literal, ended := bytes.CutSuffix(rest, []byte("}"))
	expires, err := strconv.ParseInt(string(literal), 10, 64)
	if !timed || !ended || err != nil || expires < now {
		return nil, false
	}
	again := strconv.AppendInt(work.Bytes, expires, 10)[len(work.Bytes):]
	return state, bytes.Equal(again, literal)
}

// vibe is the JSON dialect of vibe.data.json.
var vibe = rawjson.Dialect{Controls: true, Trailing: true, BarePoint: true, AnyPair: true}

// parse parses the claims. In the strict reading it also checks that they are
// canonical. vibe.d skips Unicode white space after the value, and JSON white
// space before and inside it. An escaped lone surrogate is an error in D.
func (s *scheme) parse(text []byte) (c claims, refused *codecs.RejectError) {
	v, err := vibe.Parse(bytes.TrimRightFunc(text, unicode.IsSpace))
	if err != nil || !utf8.Valid(text) || !v.IsUTF8() {
		return c, errMalformed
	}
	state, bind, exp := v.Lookup("s"), v.Lookup("b"), v.Lookup("exp")
	if state == nil || bind == nil || exp == nil || state.Kind != rawjson.String || bind.Kind != rawjson.String {
		return c, errMalformed
	}
	expires, err := strconv.ParseInt(string(exp.Text), 10, 64)
	if exp.Kind != rawjson.Number || err != nil {
		return c, errMalformed // a float, or an integer that vibe.d reads as BigInt
	}
	c = claims{state.Text, bind.Text, expires}
	if !s.faithful && !bytes.Equal(c.append(make([]byte, 0, len(text))), text) {
		return c, errMalformed
	}
	return c, nil
}

// check verifies parsed claims in the order of the SDK.
func (c *claims) check(bind []byte, now time.Time) *codecs.RejectError {
	if c.expires < now.Unix() {
		return errExpired
	}
	if !hmac.Equal(c.bind, bind) {
		return errBind
	}
	return nil
}
