package mcprb

import (
	"bytes"
	"encoding/base64"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/rawjson"
)

// The refusals, with the messages of the SDK's errors, in the order of its
// checks.
var (
	errToken     = codecs.Reject(codecs.Malformed, "malformed token")
	errSeal      = codecs.Reject(codecs.Unauthentic, "authentication failed")
	errClaims    = codecs.Reject(codecs.Malformed, "malformed claims")
	errVersion   = codecs.Reject(codecs.Malformed, "unsupported version")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
	errMethod    = codecs.Reject(codecs.Misbound, "method mismatch")
	errTarget    = codecs.Reject(codecs.Misbound, "target mismatch")
	errArguments = codecs.Reject(codecs.Misbound, "arguments mismatch")
	errAudience  = codecs.Reject(codecs.Misbound, "audience mismatch")
	errState     = codecs.Reject(codecs.Malformed, "missing state")
)

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := b.Check(); err != nil {
		return dst, err
	}
	room, work := base64url.GetScratch(), base64url.GetInner()
	defer room.Wipe(len(token))
	defer work.Wipe(0)
	text, refused := s.open(room, token)
	if refused != nil {
		return dst, refused
	}
	if out, ok := s.accept(dst, work, text, b); ok {
		return out, nil
	}
	v, refused := s.parse(text)
	if refused != nil {
		return dst, refused
	}
	if refused := s.check(&v, b); refused != nil {
		return dst, refused
	}
	return append(dst, v.Lookup("s").Text...), nil
}

// accept is a fast path that reads the text of the claims in one pass and
// appends the state to dst. It reports false unless Mint writes this text and
// the claims hold in the context. The caller then gets the reason from parse
// and check, which accept all claims that accept does.
func (s *scheme) accept(dst []byte, work *base64url.Scratch, text []byte, c *codecs.Context) (out []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(beforeExpires))
	if !ok || !rawjson.ValidUTF8(text) {
		return dst, false
	}
	expires, rest, ok := cutTime(rest)
	if !ok || expires < c.Now.Unix() {
		return dst, false
	}
	work.Grow(256 + 2*len(c.Arguments))
	digest, err := s.digest(work.Bytes, c.Arguments)
	if err != nil {
		return dst, false
	}
	work.Bytes = appendRequest(digest, c.Method, c.Target, digest, c.Audience)
	rest, bound := bytes.CutPrefix(rest, work.Bytes[len(digest):])
	rest, ended := bytes.CutSuffix(rest, []byte("}"))
	if !bound || !ended {
		return dst, false
	}
	return generate.CutWhole(dst, rest)
}

// timeDigits is the number of digits of the times that cutTime parses: those of
// the years 2001 to 2286.
const timeDigits = 10

// cutTime parses the Unix time in seconds at the start of text. It reports
// false for times with another number of digits.
func cutTime(text []byte) (seconds int64, rest []byte, ok bool) {
	if len(text) <= timeDigits || text[0] == '0' {
		return 0, text, false
	}
	for _, c := range text[:timeDigits] {
		digit := c - '0'
		if digit > 9 {
			return 0, text, false
		}
		seconds = 10*seconds + int64(digit)
	}
	return seconds, text[timeDigits:], true
}

// open returns the claims of an authentic token, in room.
func (s *scheme) open(room *base64url.Scratch, token []byte) ([]byte, *codecs.RejectError) {
	segment, ok := bytes.CutPrefix(token, prefixBytes)
	if !ok {
		return nil, errToken
	}
	if !s.decode(room, segment) || len(room.Bytes) < ivSize+tagSize {
		return nil, errToken
	}
	raw := room.Bytes
	sealed := raw[ivSize:]
	text, err := s.aead.Open(sealed[:0], raw[:ivSize], sealed, prefixBytes)
	if err != nil {
		return nil, errSeal
	}
	return text, nil
}

// decode appends the decoded segment to room.
func (s *scheme) decode(room *base64url.Scratch, segment []byte) bool {
	return room.Decode(segment) || s.faithful && unpack(room, segment)
}

// unpack decodes as the SDK does: it maps both alphabets to the standard one,
// pads to a multiple of 4, and applies unpack1("m0"), which is strict.
func unpack(room *base64url.Scratch, segment []byte) bool {
	out, ok := framework.PaddedDecode(base64.StdEncoding.Strict(), room.Bytes, segment)
	if ok {
		room.Bytes = out
	}
	return ok
}

// parse parses the claims. In the strict reading it also checks that they are
// canonical.
func (s *scheme) parse(text []byte) (v rawjson.Value, refused *codecs.RejectError) {
	v, err := rawjson.Ruby.Parse(text)
	if err != nil || v.Kind != rawjson.Object || !hasSymbols(&v) {
		return v, errClaims
	}
	if !s.faithful && !isCanonical(&v, text) {
		return v, errClaims
	}
	return v, nil
}

// hasSymbols reports whether every name in v can be a Ruby symbol, which must
// be UTF-8.
func hasSymbols(v *rawjson.Value) bool {
	for i := range v.Items {
		if !hasSymbols(&v.Items[i]) {
			return false
		}
	}
	for i := range v.Members {
		if !utf8.Valid(v.Members[i].Name) || !hasSymbols(&v.Members[i].Value) {
			return false
		}
	}
	return true
}

// isCanonical reports whether Mint writes text for these claims.
func isCanonical(v *rawjson.Value, text []byte) bool {
	value := func(name string) []byte {
		if claim := v.Lookup(name); claim != nil {
			return claim.Text
		}
		return nil
	}
	expires := value("exp")
	if _, err := strconv.ParseInt(string(expires), 10, 64); err != nil || !utf8.Valid(text) {
		return false
	}
	c := claims{
		expires: expires, method: string(value("m")), target: string(value("t")),
		digest: generate.Append(nil, value("a")), state: value("s"),
	}
	if claim := v.Lookup("aud"); claim != nil {
		c.audience = new(string(claim.Text))
	}
	return bytes.Equal(c.append(make([]byte, 0, len(text))), text)
}

// check verifies the claims in the order of the SDK.
func (s *scheme) check(v *rawjson.Value, b *codecs.Context) *codecs.RejectError {
	digest, err := s.digest(nil, b.Arguments)
	switch {
	case !isOne(v.Lookup("v")):
		return errVersion
	case !isGood(v.Lookup("exp"), b.Now):
		return errExpired
	case !v.Lookup("m").IsString(b.Method):
		return errMethod
	case !v.Lookup("t").IsString(b.Target):
		return errTarget
	case err != nil || !isDigest(v.Lookup("a"), digest):
		return errArguments
	case !isAudience(v.Lookup("aud"), b.Audience):
		return errAudience
	case v.Lookup("s") == nil || v.Lookup("s").Kind != rawjson.String:
		return errState
	}
	return nil
}

// isOne reports whether Ruby compares a value equal to 1. It does for 1.0.
func isOne(v *rawjson.Value) bool {
	if v == nil || v.Kind != rawjson.Number {
		return false
	}
	f, err := strconv.ParseFloat(string(v.Text), 64)
	return err == nil && f == 1
}

// isGood reports whether a claim is an integer of any size that is at least
// now.
func isGood(exp *rawjson.Value, now time.Time) bool {
	if exp == nil || exp.Kind != rawjson.Number {
		return false
	}
	i, ok := new(big.Int).SetString(string(exp.Text), 10) // fails for the literal of a float
	return ok && i.Cmp(big.NewInt(now.Unix())) >= 0
}

// isDigest reports whether a claim is the string that is quoted.
func isDigest(claim *rawjson.Value, quoted []byte) bool {
	return claim != nil && claim.Kind == rawjson.String && bytes.Equal(generate.Append(nil, claim.Text), quoted)
}

// isAudience reports whether claim is want. Nil, absent and null are equal.
func isAudience(claim *rawjson.Value, want *string) bool {
	if want == nil {
		return claim == nil || claim.Kind == rawjson.Null
	}
	return claim.IsString(*want)
}
