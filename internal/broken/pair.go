package broken

import (
	"encoding/base64"
	"strings"

	"sealab/codecs"
)

// A pair is a codec made of two functions.
type pair struct {
	seal   func(payload []byte) string
	unseal func(token string) ([]byte, error)
}

// Seal implements codecs.Codec.
func (p pair) Seal(dst, payload []byte) ([]byte, error) { return append(dst, p.seal(payload)...), nil }

// Unseal implements codecs.Codec.
func (p pair) Unseal(dst, token []byte) ([]byte, error) {
	payload, err := p.unseal(string(token))
	if err != nil {
		return dst, err
	}
	return append(dst, payload...), nil
}

// newControl returns a control of the design, which claims guarantees and breaks properties.
func newControl(name, doc string, d codecs.Design, claims []codecs.Guarantee, broken []codecs.Property, attacks []string) Control {
	d.Name, d.Doc, d.Guarantees = "broken-"+name, doc, codecs.Always(claims)
	return Control{Design: d, Breaks: broken, Attacks: attacks}
}

// aPair returns a control with its own format, under one key.
func aPair(name, doc string, broken []codecs.Property, attacks []string, make func(key []byte) pair) Control {
	open := func(c codecs.Config) (codecs.Codec, error) {
		r, err := soundRing().open(c.Secrets)
		if err != nil {
			return nil, err
		}
		return make(r.entries[0].key), nil
	}
	return newControl(name, doc, codecs.Design{MaxKeys: 1, NewCodec: open}, signedGuarantees, broken, attacks)
}

// joinText encodes parts in base64url, joined by full stops.
func joinText(parts ...[]byte) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = base64.RawURLEncoding.EncodeToString(p)
	}
	return strings.Join(texts, ".")
}

// splitText decodes n parts.
func splitText(token string, n int) ([][]byte, error) {
	texts := strings.Split(token, ".")
	if len(texts) != n {
		return nil, errMalformed
	}
	parts := make([][]byte, n)
	for i, text := range texts {
		var ok bool
		if parts[i], ok = decodeCanonical(text); !ok {
			return nil, errMalformed
		}
	}
	return parts, nil
}
