package broken

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// schemeParts are the parts of a scheme,
//
//	token = "fv1." || base64url(claims) || "." || base64url(tag[32])
//	tag = HMAC-SHA256(key, "fv1." || base64url(claims))
//
// The key ID is read before the tag is checked, to find the key. Claims are JSON: the state in base64,
// issue and expiry in seconds, the key ID, a salt, and a tag of the binding under the salt.
type schemeParts struct {
	ringParts
	// binding returns the bound part of a context as one text.
	binding func(b *codecs.Context) string
	// bindTag digests a binding's text.
	bindTag func(key, salt []byte, text string) []byte
	salt    func() []byte
	// compared reports whether the binding of a context is compared.
	compared func(b *codecs.Context) bool
	// tag makes the tag of a text.
	tag   func(key []byte, text string) []byte
	issue func(now time.Time, ttl time.Duration) (iat, exp float64)
	// timely reports whether claims are valid at a time.
	timely func(c *claims, now time.Time) bool
	// lifetime checks a time to live.
	lifetime func(ttl time.Duration) error
	// order reorders the checks of tag, time and binding.
	order func(checks []func() error) []func() error
}

const (
	schemePrefix = "fv1."
	defaultTTL   = 10 * time.Minute
	clockSkew    = time.Minute
)

// claims are the content of a token.
type claims struct {
	State   []byte   `json:"s"`
	Issued  *float64 `json:"iat,omitempty"`
	Expires *float64 `json:"exp,omitempty"`
	Key     []byte   `json:"k"`
	Salt    []byte   `json:"n"`
	Bound   []byte   `json:"b"`
}

// within reports whether both times are present, the issue is at most issued and the expiry is after
// expires.
func (c *claims) within(issued, expires float64) bool {
	return c.Issued != nil && c.Expires != nil && *c.Issued <= issued && expires < *c.Expires
}

func soundScheme() schemeParts {
	return schemeParts{
		ringParts: soundRing(),
		binding:   encodeContext,
		bindTag: func(key, salt []byte, text string) []byte {
			return hmacSHA256(bindKey(key), slices.Concat(salt, []byte(text)))[:16]
		},
		salt:     func() []byte { return randomBytes(16) },
		compared: func(*codecs.Context) bool { return true },
		tag:      func(key []byte, text string) []byte { return hmacSHA256(key, []byte(text)) },
		issue: func(now time.Time, ttl time.Duration) (iat, exp float64) {
			return unixSeconds(now), unixSeconds(now.Add(ttl))
		},
		timely: func(c *claims, now time.Time) bool {
			return c.within(unixSeconds(now.Add(clockSkew)), unixSeconds(now))
		},
		lifetime: checkTTL,
		order:    func(checks []func() error) []func() error { return checks },
	}
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func bindKey(key []byte) []byte { return lab.Derive(key, "sealab/flawed bind", 32) }

// encodeContext encodes a context with the length of each field before it, so that the encoding is
// unambiguous. An absent field is a minus.
func encodeContext(b *codecs.Context) string {
	var arguments *string
	if b.Arguments != nil {
		text := string(b.Arguments)
		arguments = &text
	}
	var out []byte
	for _, field := range []*string{&b.Method, &b.Target, arguments, b.Principal, b.Audience} {
		if field == nil {
			out = append(out, '-')
			continue
		}
		out = append(strconv.AppendInt(out, int64(len(*field)), 10), ':')
		out = append(out, *field...)
	}
	return string(out)
}

// scheme is a skeleton opened under a ring.
type scheme struct {
	schemeParts
	ring *ring
	ttl  time.Duration
}

func (p schemeParts) open(c codecs.Config) (codecs.Scheme, error) {
	r, err := p.ringParts.open(c.Secrets)
	if err != nil {
		return nil, err
	}
	s := &scheme{p, r, ttlOf(c)}
	return s, p.lifetime(s.ttl)
}

// ttlOf returns the time to live that a scheme is opened with.
func ttlOf(c codecs.Config) time.Duration {
	if c.TTL == nil {
		return defaultTTL
	}
	return *c.TTL
}

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	e := s.first(s.ring)
	c := claims{State: state, Key: e.id, Salt: s.salt()}
	if iat, exp := s.issue(b.Now, s.ttl); exp != 0 {
		c.Issued, c.Expires = &iat, &exp
	}
	c.Bound = s.bindTag(e.key, c.Salt, s.binding(b))
	inside, err := json.Marshal(c)
	if err != nil {
		return dst, err
	}
	text := schemePrefix + base64.RawURLEncoding.EncodeToString(inside)
	return append(dst, text+"."+base64.RawURLEncoding.EncodeToString(s.tag(e.key, text))...), nil
}

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), schemePrefix)
	body, tail, both := strings.Cut(text, ".")
	if !ok || !both {
		return dst, errMalformed
	}
	inside, okBody := decodeCanonical(body)
	tag, okTag := decodeCanonical(tail)
	var c claims
	if !okBody || !okTag || json.Unmarshal(inside, &c) != nil {
		return dst, errMalformed
	}
	e := s.lookup(s.ring, c.Key)
	if e == nil {
		return dst, errUnknownKey
	}
	for _, check := range s.order([]func() error{
		func() error {
			return refuseUnless(hmac.Equal(tag, s.tag(e.key, schemePrefix+body)), errUnauthentic)
		},
		func() error { return refuseUnless(s.timely(&c, b.Now), errExpired) },
		func() error {
			return refuseUnless(!s.compared(b) || hmac.Equal(c.Bound, s.bindTag(e.key, c.Salt, s.binding(b))), errMisbound)
		},
	}) {
		if err := check(); err != nil {
			return dst, err
		}
	}
	return append(dst, c.State...), nil
}

func refuseUnless(ok bool, refusal *codecs.RejectError) error {
	if ok {
		return nil
	}
	return refusal
}

// refusedUnless returns errUnauthentic unless the tag is right.
func refusedUnless(right bool) error { return refuseUnless(right, errUnauthentic) }

// shifted returns the context at a time that is later by d.
func shifted(b *codecs.Context, d time.Duration) *codecs.Context {
	other := *b
	other.Now = b.Now.Add(d)
	return &other
}

// schemeGuarantees are the guarantees that the author of a signed scheme would claim.
var schemeGuarantees = slices.Concat(signedGuarantees,
	codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience,
		codecs.Unambiguous, codecs.Expiry, codecs.Unlinkable),
	codecs.Disclaims(codecs.SingleUse, "nothing is stored"),
)

// aScheme returns a control on the skeleton of a scheme.
func aScheme(name, doc string, broken []codecs.Property, attacks []string, mistake func(*schemeParts)) Control {
	parts := soundScheme()
	mistake(&parts)
	return newControl(name, doc, codecs.Design{Prefix: schemePrefix, NewScheme: parts.open}, schemeGuarantees, broken, attacks)
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("the time to live is %s and must be positive", ttl)
	}
	return nil
}
