package envelope

import (
	"bytes"
	"time"

	"sealab/codecs"
	"sealab/codecs/envelope/compactjson"
	"sealab/codecs/rawjson"
)

// The refusals of the claims, with the reasons that the Python SDK logs, in the
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

// unbound is the binding where the caller has none.
var unbound codecs.Binding

// Verify implements codecs.Scheme. Refusals of the codec are its own.
func (s *scheme) Verify(dst, token []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	payload, err := s.codec.Unseal(make([]byte, 0, len(token)), token)
	if err != nil {
		return dst, err
	}
	if b == nil {
		b = &unbound
	}
	c, refused := parse(payload)
	if refused == nil && s.reading == Strict && !c.isCanonical(payload) {
		refused = errMalformed
	}
	if refused == nil {
		refused = c.check(b, unixSeconds(now))
	}
	if refused != nil {
		return dst, refused
	}
	return append(dst, c.Lookup("s").Text...), nil
}

// parse reads a payload that the codec has authenticated.
func parse(payload []byte) (*object, *codecs.RejectError) {
	v, err := compactjson.Loads(payload)
	if err != nil || v.Kind != rawjson.Object {
		return nil, errMalformed
	}
	for _, name := range []string{"v", "iat", "exp", "s"} {
		if v.Lookup(name) == nil {
			return nil, errMalformed
		}
	}
	if !isOne(v.Lookup("v")) || v.Lookup("s").Kind != rawjson.String {
		return nil, errMalformed
	}
	return &object{v}, nil
}

// check verifies every claim, in the order of the SDK.
func (o *object) check(b *codecs.Binding, now float64) *codecs.RejectError {
	// Written so that a time that compares with nothing is refused.
	if !number(o.Lookup("iat")).atMost(now + skew) {
		return errFuture
	}
	if !number(o.Lookup("exp")).over(now) {
		return errExpired
	}
	digest, err := DigestArguments(b.Method, b.Arguments)
	if err != nil || !o.Lookup("m").IsString(b.Method) || !o.Lookup("t").IsString(b.Target) || !o.Lookup("a").IsString(string(digest)) {
		return errRequest
	}
	if !isOptional(o.Lookup("aud"), b.Audience) {
		return errAudience
	}
	return o.checkPrincipal(b.Principal)
}

// isOptional reports whether a claim, of which null is the absence, is want.
func isOptional(claim *rawjson.Value, want *string) bool {
	if want == nil {
		return isAbsent(claim)
	}
	return claim.IsString(*want)
}

func isAbsent(claim *rawjson.Value) bool { return claim == nil || claim.Kind == rawjson.Null }

func (o *object) checkPrincipal(want *string) *codecs.RejectError {
	claim := o.Lookup("p")
	if isAbsent(claim) != (want == nil) {
		return errDrift
	}
	if want == nil {
		return nil
	}
	if claim.Kind != rawjson.String || !principalMatches(claim.Text, *want) {
		return errPrincipal
	}
	return nil
}

// isCanonical reports whether payload is what the SDK writes for these claims,
// whose times are finite: there is no way to be without expiry. Times may be
// integers, which they are where the SDK's clock gives integers.
func (o *object) isCanonical(payload []byte) bool {
	iat, exp := o.Lookup("iat"), o.Lookup("exp")
	if !number(iat).isTime() || !number(exp).isTime() {
		return false
	}
	c := claims{
		issued: compactjson.AppendNumber(nil, iat.Text), expires: compactjson.AppendNumber(nil, exp.Text),
		method: o.text("m"), target: o.text("t"), digest: o.text("a"), state: o.text("s"),
		hasAudience: o.Lookup("aud") != nil, audience: o.text("aud"), principal: o.text("p"),
	}
	return bytes.Equal(c.append(make([]byte, 0, len(payload))), payload)
}

// text returns the characters of a claim, nil where it is absent or no string.
func (o *object) text(name string) []byte {
	v := o.Lookup(name)
	if v == nil {
		return nil
	}
	return v.Text
}
