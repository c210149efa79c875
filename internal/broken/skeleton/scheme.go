package skeleton

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/lab"
)

// SchemeParts are the parts of a scheme,
//
//	token = "fv1." || base64url(claims) || "." || base64url(tag[32])
//	tag = HMAC-SHA256(key, "fv1." || base64url(claims))
//
// The key ID is read before the tag is checked, to find the key. Claims are JSON: the state in base64,
// issue and expiry in seconds, the key ID, a salt, and a tag of the binding under the salt.
type SchemeParts struct {
	RingParts
	// Binding returns the bound part of a context as one text.
	Binding func(b *codecs.Context) string
	// BindTag digests a binding's text.
	BindTag func(key, salt []byte, text string) []byte
	// Salt returns the salt of a token.
	Salt func() []byte
	// Compared reports whether the binding of a context is compared.
	Compared func(b *codecs.Context) bool
	// Tag makes the tag of a text.
	Tag func(key []byte, text string) []byte
	// Issue returns the times of issue and expiry, in seconds. There are none if the expiry is 0.
	Issue func(now time.Time, ttl time.Duration) (iat, exp float64)
	// Timely reports whether claims are valid at a time.
	Timely func(c *Claims, now time.Time) bool
	// Lifetime checks a time to live.
	Lifetime func(ttl time.Duration) error
	// Order reorders the checks of tag, time and binding.
	Order func(checks []func() error) []func() error
}

// The prefix of tokens, the time to live of a scheme that is opened without one, and the clock skew that it
// allows.
const (
	SchemePrefix = "fv1."
	DefaultTTL   = 10 * time.Minute
	ClockSkew    = time.Minute
)

// Claims are the content of a token.
type Claims struct {
	State   []byte   `json:"s"`
	Issued  *float64 `json:"iat,omitempty"`
	Expires *float64 `json:"exp,omitempty"`
	Key     []byte   `json:"k"`
	Salt    []byte   `json:"n"`
	Bound   []byte   `json:"b"`
}

// IssuedBy reports whether the time of issue is present and not ahead of now by more than the clock skew.
func (c *Claims) IssuedBy(now time.Time) bool {
	return c.Issued != nil && *c.Issued <= UnixSeconds(now.Add(ClockSkew))
}

// ExpiresAfter reports whether the expiry is present and after now.
func (c *Claims) ExpiresAfter(now time.Time) bool {
	return c.Expires != nil && UnixSeconds(now) < *c.Expires
}

func soundScheme() SchemeParts {
	return SchemeParts{
		RingParts: SoundRing(),
		Binding:   EncodeContext,
		BindTag: func(key, salt []byte, text string) []byte {
			return HMAC(BindKey(key), slices.Concat(salt, []byte(text)))[:16]
		},
		Salt:     func() []byte { return RandomBytes(16) },
		Compared: func(*codecs.Context) bool { return true },
		Tag:      func(key []byte, text string) []byte { return HMAC(key, []byte(text)) },
		Issue: func(now time.Time, ttl time.Duration) (iat, exp float64) {
			return UnixSeconds(now), UnixSeconds(now.Add(ttl))
		},
		Timely: func(c *Claims, now time.Time) bool {
			return c.IssuedBy(now) && c.ExpiresAfter(now)
		},
		Lifetime: CheckTTL,
		Order:    func(checks []func() error) []func() error { return checks },
	}
}

// BindKey returns the key of the tags of bindings.
func BindKey(key []byte) []byte { return lab.Derive(key, "sealab/flawed bind", 32) }

// scheme is a skeleton opened under a ring.
type scheme struct {
	SchemeParts
	ring *Ring
	ttl  time.Duration
}

func (p SchemeParts) open(c codecs.Config) (codecs.Scheme, error) {
	r, err := p.RingParts.Open(c.Secrets)
	if err != nil {
		return nil, err
	}
	s := &scheme{p, r, TTL(c)}
	return s, p.Lifetime(s.ttl)
}

// TTL returns the time to live that a scheme is opened with.
func TTL(c codecs.Config) time.Duration {
	if c.TTL == nil {
		return DefaultTTL
	}
	return *c.TTL
}

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	e := s.First(s.ring)
	c := Claims{State: state, Key: e.ID, Salt: s.Salt()}
	if iat, exp := s.Issue(b.Now, s.ttl); exp != 0 {
		c.Issued, c.Expires = &iat, &exp
	}
	c.Bound = s.BindTag(e.Key, c.Salt, s.Binding(b))
	inside, err := json.Marshal(c)
	if err != nil {
		return dst, err
	}
	text := SchemePrefix + base64.RawURLEncoding.EncodeToString(inside)
	return append(dst, text+"."+base64.RawURLEncoding.EncodeToString(s.Tag(e.Key, text))...), nil
}

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	text, ok := strings.CutPrefix(string(token), SchemePrefix)
	body, tail, both := strings.Cut(text, ".")
	if !ok || !both {
		return dst, ErrMalformed
	}
	inside, okBody := DecodeCanonical(body)
	tag, okTag := DecodeCanonical(tail)
	var c Claims
	if !okBody || !okTag || json.Unmarshal(inside, &c) != nil {
		return dst, ErrMalformed
	}
	e := s.Lookup(s.ring, c.Key)
	if e == nil {
		return dst, errUnknownKey
	}
	for _, check := range s.Order([]func() error{
		func() error {
			return refuseUnless(hmac.Equal(tag, s.Tag(e.Key, SchemePrefix+body)), ErrUnauthentic)
		},
		func() error { return refuseUnless(s.Timely(&c, b.Now), ErrExpired) },
		func() error {
			return refuseUnless(!s.Compared(b) || hmac.Equal(c.Bound, s.BindTag(e.Key, c.Salt, s.Binding(b))), errMisbound)
		},
	}) {
		if err := check(); err != nil {
			return dst, err
		}
	}
	return append(dst, c.State...), nil
}

// schemeGuarantees are the guarantees that the author of a signed scheme would claim.
var schemeGuarantees = slices.Concat(signedGuarantees,
	codecs.Holds(codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience,
		codecs.Unambiguous, codecs.Expiry, codecs.Unlinkable),
	codecs.Disclaims(codecs.SingleUse, "nothing is stored"),
)

// NewScheme returns a control on the skeleton of a scheme.
func NewScheme(name, doc string, broken []codecs.Property, attacks []string, mistake func(*SchemeParts)) Control {
	parts := soundScheme()
	mistake(&parts)
	return NewControl(name, doc, codecs.Design{Prefix: SchemePrefix, NewScheme: parts.open}, schemeGuarantees, broken, attacks)
}

// CheckTTL refuses a time to live that is not positive.
func CheckTTL(ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("the time to live is %s and must be positive", ttl)
	}
	return nil
}
