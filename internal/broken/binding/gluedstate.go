package binding

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// GluedStates returns a control whose tag covers audience and state without a border.
func GluedStates() []skeleton.Control {
	open := func(c codecs.Config) (codecs.Scheme, error) {
		if len(c.Secrets) != 1 {
			return nil, errors.New("want one secret")
		}
		s := gluedStateScheme{slices.Clone(c.Secrets[0]), skeleton.TTL(c)}
		return s, skeleton.CheckTTL(s.ttl)
	}
	return []skeleton.Control{skeleton.NewControl("state-glued", "the tag covers the audience and behind it the state, without a border", codecs.Design{Prefix: "fg1.", NewScheme: open},
		codecs.Holds(codecs.Integrity, codecs.Unambiguous, codecs.BindsPrincipal, codecs.BindsAudience, codecs.Total),
		[]codecs.Property{codecs.Integrity, codecs.Unambiguous}, []string{"CTX-21"})}
}

// A gluedStateScheme seals the time of issue, the state and a tag.
type gluedStateScheme struct {
	key []byte
	ttl time.Duration
}

func (s gluedStateScheme) tag(issued, state []byte, b *codecs.Context) []byte {
	rest := *b
	rest.Audience = nil
	return skeleton.HMAC(s.key, slices.Concat(issued, []byte(skeleton.EncodeContext(&rest)), []byte(skeleton.TextOrEmpty(b.Audience)), state))
}

// Mint implements codecs.Scheme.
func (s gluedStateScheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	issued, err := b.Now.UTC().Truncate(time.Second).MarshalBinary()
	if err != nil {
		return dst, err
	}
	return append(dst, "fg1."+base64.RawURLEncoding.EncodeToString(slices.Concat(issued, state, s.tag(issued, state, b)))...), nil
}

// Verify implements codecs.Scheme.
func (s gluedStateScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	const timeSize, tagSize = 15, 32
	text, ok := strings.CutPrefix(string(token), "fg1.")
	raw, canonical := skeleton.DecodeCanonical(text)
	if !ok || !canonical || len(raw) < timeSize+tagSize {
		return dst, skeleton.ErrMalformed
	}
	issued, state, tag := raw[:timeSize], raw[timeSize:len(raw)-tagSize], raw[len(raw)-tagSize:]
	if !hmac.Equal(tag, s.tag(issued, state, b)) {
		return dst, skeleton.ErrUnauthentic
	}
	var at time.Time
	if at.UnmarshalBinary(issued) != nil || at.After(b.Now.Add(skeleton.ClockSkew)) || !b.Now.Before(at.Add(s.ttl)) {
		return dst, skeleton.ErrExpired
	}
	return append(dst, state...), nil
}
