package mcppy

import (
	"bytes"
	"math"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// The refusals of claims, with the reasons that the Python SDK logs, in the
// order of its checks.
var (
	errMalformed = codecs.Reject(codecs.Malformed, "malformed")
	errFuture    = codecs.Reject(codecs.Expired, "minted in the future")
	errExpired   = codecs.Reject(codecs.Expired, "expired")
	errRequest   = codecs.Reject(codecs.Misbound, "request binding")
	errAudience  = codecs.Reject(codecs.Misbound, "audience")
	errDrift     = codecs.Reject(codecs.Misbound, "principal drift")
	errPrincipal = codecs.Reject(codecs.Misbound, "principal")
)

// Verify implements codecs.Scheme. It returns the codec's refusals unchanged.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := b.Check(); err != nil {
		return dst, err
	}
	work := rooms.Get().(*room)
	defer work.free()
	var err error
	if work.payload, err = s.codec.Unseal(work.payload[:0], token); err != nil {
		clear(work.payload[:min(len(token), cap(work.payload))]) // some codecs decrypt before they refuse
		return dst, err
	}
	if out, ok := work.accept(dst, b); ok {
		return out, nil
	}
	r, refused := parse(work.payload)
	if refused == nil && s.strict && !r.isCanonical(work.payload) {
		refused = errMalformed
	}
	if refused == nil {
		refused = r.check(b, unixSeconds(b.Now))
	}
	if refused != nil {
		return dst, refused
	}
	return append(dst, r.state.Text...), nil
}

// accept is a fast path that reads the payload in one pass and appends the
// state to dst. It reports false unless Mint writes this payload and the claims
// hold in the context. The caller then gets the reason from parse and check,
// which accept all payloads that accept does.
func (r *room) accept(dst []byte, b *codecs.Context) (out []byte, ok bool) {
	now := unixSeconds(b.Now)
	issued, rest, ok := cutTime(r.payload, beforeIssued)
	if !ok || issued > now+skew {
		return dst, false
	}
	expires, rest, ok := cutTime(rest, beforeExpires)
	if !ok || expires <= now {
		return dst, false
	}
	//mutant:equivalent a vector's context cannot hold the bytes
	if r.text, ok = appendNames(r.text[:0], b.Method, b.Target); !ok {
		return dst, false
	}
	text, err := compactjson.AppendDigest(append(r.text, '"'), b.Method, b.Arguments)
	if err != nil {
		return dst, false
	}
	r.text = append(text, `"`+beforeState...)
	rest, ok = bytes.CutPrefix(rest, r.text)
	if !ok {
		return dst, false
	}
	if rest, ok = r.cutEnd(rest, b); !ok {
		return dst, false
	}
	return compactjson.CutString(dst, rest)
}

// cutEnd removes the claims after the state.
func (r *room) cutEnd(rest []byte, b *codecs.Context) ([]byte, bool) {
	rest, ok := bytes.CutSuffix(rest, []byte("}"))
	if b.Principal != nil {
		n := len(rest) - len(beforePrincipal) - len(`""`) - claimSize
		if !ok || n < 0 || !r.isPrincipal(rest[n:], *b.Principal) {
			return nil, false
		}
		rest = rest[:n]
	}
	n := len(r.text)
	text, judged := appendAudience(r.text, b.Audience)
	r.text = text
	rest, named := bytes.CutSuffix(rest, r.text[n:])
	return rest, ok && named &&
		judged //mutant:equivalent a vector's context cannot hold the bytes
}

// isPrincipal reports whether text is the claim of a principal.
func (r *room) isPrincipal(text []byte, principal string) bool {
	claim, named := bytes.CutPrefix(text, []byte(beforePrincipal+`"`))
	claim, ended := bytes.CutSuffix(claim, []byte(`"`))
	return named && ended && principalMatches(r.text, claim, principal)
}

// cutTime reads a name and the float after it, which must be as Python prints
// it and end at a comma.
func cutTime(text []byte, name string) (seconds float64, rest []byte, ok bool) {
	literal, ok := bytes.CutPrefix(text, []byte(name))
	if !ok {
		return 0, text, false
	}
	if seconds, rest, ok := compactjson.CutTime(literal); ok && len(rest) > 0 && rest[0] == ',' {
		return seconds, rest, true
	}
	n := bytes.IndexByte(literal[:min(len(literal), longestFloat+1)], ',')
	if n < 0 {
		return 0, text, false
	}
	var room [longestFloat]byte
	seconds = rawjson.ParseFloat(literal[:n])
	if math.IsInf(seconds, 0) || math.IsNaN(seconds) || !bytes.Equal(compactjson.AppendFloat(room[:0], seconds), literal[:n]) {
		return 0, text, false
	}
	return seconds, literal[n:], true
}

// parse parses an authenticated payload.
func parse(payload []byte) (r received, refused *codecs.RejectError) {
	v, err := compactjson.Loads(payload)
	if err != nil || v.Kind != rawjson.Object {
		return r, errMalformed
	}
	r = receive(v.Members)
	if r.version == nil || r.issued == nil || r.expires == nil || r.state == nil {
		return r, errMalformed
	}
	if !isOne(r.version) || r.state.Kind != rawjson.String {
		return r, errMalformed
	}
	return r, nil
}

// check verifies every claim in the order of the SDK.
func (r *received) check(b *codecs.Context, now float64) *codecs.RejectError {
	// The comparisons are written so that NaN is refused.
	if !number(r.issued).atMost(now + skew) {
		return errFuture
	}
	if !number(r.expires).over(now) {
		return errExpired
	}
	if !r.method.IsString(b.Method) || !r.target.IsString(b.Target) {
		return errRequest
	}
	if digest, err := compactjson.AppendDigest(nil, b.Method, b.Arguments); err != nil || !r.digest.IsString(string(digest)) {
		return errRequest
	}
	if !isOptional(r.audience, b.Audience) {
		return errAudience
	}
	return r.checkPrincipal(b.Principal)
}

// isOptional reports whether claim is want. Nil, absent and null are equal.
func isOptional(claim *rawjson.Value, want *string) bool {
	if want == nil {
		return isAbsent(claim)
	}
	return claim.IsString(*want)
}

func isAbsent(claim *rawjson.Value) bool { return claim == nil || claim.Kind == rawjson.Null }

func (r *received) checkPrincipal(want *string) *codecs.RejectError {
	if isAbsent(r.principal) != (want == nil) {
		return errDrift
	}
	if want == nil {
		return nil
	}
	if r.principal.Kind != rawjson.String || !principalMatches(nil, r.principal.Text, *want) {
		return errPrincipal
	}
	return nil
}

// isCanonical reports whether the SDK writes payload for these claims. Times
// must be finite, so that every token expires. They may be integers, because a
// clock of the SDK may return integers.
func (r *received) isCanonical(payload []byte) bool {
	if !isTime(r.issued) || !isTime(r.expires) {
		return false
	}
	c := claims{
		issued: r.issued.Text, expires: r.expires.Text,
		method: string(text(r.method)), target: string(text(r.target)),
		digest: compactjson.AppendString(nil, text(r.digest)), state: r.state.Text,
	}
	if r.principal != nil {
		c.principal = compactjson.AppendString(nil, r.principal.Text)
	}
	if r.audience != nil {
		c.audience = new(string(r.audience.Text))
	}
	again, _ := c.append(make([]byte, 0, len(payload)))
	return bytes.Equal(again, payload)
}

// isTime reports whether a claim is a finite time as Python prints it.
func isTime(claim *rawjson.Value) bool {
	var room [longestFloat]byte
	return number(claim).isTime() && bytes.Equal(compactjson.AppendNumber(room[:0], claim.Text), claim.Text)
}

// text returns the characters of a claim, or nil if it is absent or not a
// string.
func text(claim *rawjson.Value) []byte {
	if claim == nil {
		return nil
	}
	return claim.Text
}
