package signedjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
)

// swift is the format of SwiftMCP.
type swift struct {
	ttl      time.Duration
	faithful bool
}

// newSwift returns the scheme for a Config that Swift has completed.
func newSwift(c codecs.Config) (*scheme, error) {
	return newScheme(c, time.Millisecond, func(ttl time.Duration, faithful bool) format { return swift{ttl, faithful} })
}

// The refusals. The SDK gives the same error for all.
var (
	errPrincipal = codecs.Reject(codecs.Misbound, "principal")
	errRequest   = codecs.Reject(codecs.Misbound, "request digest")
)

// foundation prints values as JSONEncoder of Foundation does: it escapes
// slashes and sorts names.
var foundation = &rawjson.Printer{
	Quoting: rawjson.NewQuoting(false, '/', `""\\//`+"\nn\rr\tt\ff\bb", rawjson.EscapeByte),
	Number:  rawjson.Stringify.Number, Members: rawjson.ByName,
}

const (
	anonymous = "anonymous"
	response  = "input-1"
)

func (swift) label() []byte { return nil }
func (swift) seedSize() int { return 0 }

// covers returns the claims: the SDK authenticates the decoded bytes.
func (swift) covers(claims, _ []byte) []byte { return claims }

func (f swift) claims(dst, _, state []byte, c *codecs.Context) ([]byte, error) {
	digest, ok := requestDigest(c)
	now := framework.Seconds(c.Now)
	if !ok || !utf8.Valid(state) || now < 0 || now+f.ttl.Seconds() >= 1e15 {
		return dst, codecs.ErrUnsupported
	}
	return appendSwift(dst, now, now+f.ttl.Seconds(), principalDigest(c.Principal), digest, state), nil
}

func appendSwift(dst []byte, issued, expires float64, principal, digest string, state []byte) []byte {
	dst = rawjson.AppendJSNumber(append(dst, `{"iat":`...), issued)
	dst = rawjson.AppendJSNumber(append(dst, `,"exp":`...), expires)
	dst = foundation.AppendText(append(dst, `,"principal":`...), principal)
	dst = foundation.AppendText(append(dst, `,"requestDigest":`...), digest)
	return append(foundation.Append(append(dst, `,"responses":{"`+response+`":`...), state), "}}"...)
}

// principalDigest returns the claim for a bearer token, which is the principal
// here.
func principalDigest(principal *string) string {
	if principal == nil {
		return anonymous
	}
	sum := sha256.Sum256([]byte(*principal))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// requestDigest returns the claim for the method and the parameters: the
// target, as name or uri, and the arguments. It reports false if the SDK cannot
// read the arguments.
func requestDigest(c *codecs.Context) (string, bool) {
	name := "name"
	if c.Method == "resources/read" {
		name = "uri"
	}
	params := rawjson.Value{Kind: rawjson.Object}
	if c.Arguments != nil {
		v, err := rawjson.Parse(c.Arguments)
		if err != nil || !v.IsUTF8() || !isFinite(&v) ||
			!utf8.Valid(c.Arguments) { //mutant:equivalent a vector's context cannot hold the bytes
			return "", false
		}
		params.Members = append(params.Members, rawjson.Member{Name: []byte("arguments"), Value: v})
	}
	target := rawjson.Value{Kind: rawjson.String, Text: []byte(c.Target)}
	params.Members = append(params.Members, rawjson.Member{Name: []byte(name), Value: target})
	//mutant:equivalent a vector's context cannot hold the bytes
	if !utf8.ValidString(c.Method) || !utf8.ValidString(c.Target) {
		return "", false
	}
	sum := sha256.Sum256(foundation.AppendValue([]byte(c.Method+"\n"), &params))
	return base64.RawURLEncoding.EncodeToString(sum[:]), true
}

func (f swift) open(dst, token []byte, c *codecs.Context, keys mac.Ring) ([]byte, error) {
	if f.faithful {
		token = bytes.TrimLeft(token, layouts.Separator)
	}
	body, segment, ok := bytes.Cut(token, []byte(layouts.Separator))
	room, tag := base64url.GetScratch(), base64url.GetScratch()
	defer room.Free()
	defer tag.Free()
	if !ok || !f.decode(room, body) || !f.decode(tag, segment) {
		return dst, errMalformed
	}
	if !keys.Verify(tag.Bytes, room.Bytes) {
		return dst, errMAC
	}
	claims, ok := f.read(room.Bytes)
	if !ok {
		return dst, errMalformed
	}
	if now := framework.Seconds(c.Now); !(claims.expires > now) {
		return dst, errExpired
	}
	if claims.principal != principalDigest(c.Principal) {
		return dst, errPrincipal
	}
	if digest, ok := requestDigest(c); !ok || claims.digest != digest {
		return dst, errRequest
	}
	if claims.state == nil {
		return dst, codecs.ErrUnsupported // the SDK accepts the token, but it holds no text
	}
	return append(dst, claims.state.Text...), nil
}

// swiftClaims are the claims of a token. state is nil if the response is not
// text.
type swiftClaims struct {
	issued, expires   float64
	principal, digest string
	state             *rawjson.Value
}

// read parses claims. In the strict reading it accepts only claims as f.claims
// writes them.
func (f swift) read(text []byte) (c swiftClaims, ok bool) {
	v, err := rawjson.Parse(text)
	if err != nil || !utf8.Valid(text) || !v.IsUTF8() || !isFinite(&v) {
		return c, false
	}
	issued, expires := v.Lookup("iat"), v.Lookup("exp")
	principal, digest, responses := v.Lookup("principal"), v.Lookup("requestDigest"), v.Lookup("responses")
	if !is(issued, rawjson.Number) || !is(expires, rawjson.Number) || !is(principal, rawjson.String) || !is(digest, rawjson.String) || !is(responses, rawjson.Object) {
		return c, false
	}
	c = swiftClaims{issued: issued.Float(), expires: expires.Float(), principal: string(principal.Text), digest: string(digest.Text)}
	if state := responses.Lookup(response); is(state, rawjson.String) {
		c.state = state
	}
	if f.faithful {
		return c, true
	}
	minted := c.state != nil && math.Abs(c.issued) < 1e15 && math.Abs(c.expires) < 1e15
	return c, minted && bytes.Equal(text, appendSwift(nil, c.issued, c.expires, c.principal, c.digest, c.state.Text))
}

func is(v *rawjson.Value, kind rawjson.Kind) bool { return v != nil && v.Kind == kind }

// decode appends the decoded segment to room. The SDK pads segments to a
// multiple of four characters, accepts both alphabets, and ignores spare bits.
func (f swift) decode(room *base64url.Scratch, segment []byte) bool {
	if room.Decode(segment) || !f.faithful {
		return len(room.Bytes) > 0
	}
	out, ok := framework.PaddedDecode(base64.StdEncoding, room.Bytes, segment)
	if ok {
		room.Bytes = out
	}
	return ok // only the empty segment decodes to nothing, and room.Decode accepted it
}
