package mcpts

import (
	"fmt"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
)

// callback is what an application gives the SDK as bind: it returns the text
// that stands for a request's context. It fails where the context has none.
type callback func(*codecs.Context) ([]byte, error)

// callbacks are the values of the option bind.
var callbacks = map[string]callback{
	bindNone:      nil,
	bindPrincipal: bindToPrincipal,
	bindRequest:   bindToRequest,
}

func bindToPrincipal(b *codecs.Context) ([]byte, error) {
	if b.Principal == nil {
		return nil, nil
	}
	return []byte(*b.Principal), nil
}

func bindToRequest(b *codecs.Context) ([]byte, error) {
	digest, err := claims.AppendDigest(nil, b.Method, b.Arguments)
	if err != nil {
		return nil, err
	}
	text := append(make([]byte, 0, 128), '[') // most have room
	text = stringify.AppendText(text, b.Method)
	text = stringify.AppendText(append(text, ','), b.Target)
	text = stringify.Append(append(text, ','), digest)
	text = appendOptional(append(text, ','), b.Principal)
	text = appendOptional(append(text, ','), b.Audience)
	return append(text, ']'), nil
}

func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	return stringify.AppendText(dst, *text)
}

// bindTag returns the tag of a context.
func (s *Scheme) bindTag(b *codecs.Context) ([]byte, error) {
	text, err := s.bind(b)
	if err != nil {
		return nil, err
	}
	if !rawjson.Valid(text) {
		return nil, fmt.Errorf("sealab: the binding is not text")
	}
	sum := s.mac.Append(nil, bindLabelBytes, encodeText(text))
	return base64url.AppendEncode(nil, sum[:bindSize]), nil
}

// encodeText does what a TextEncoder does: lone surrogates become U+FFFD.
func encodeText(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := rawjson.DecodeRune(text)
		if 0xd800 <= r && r < 0xe000 {
			r = 0xfffd
		}
		out = rawjson.AppendRune(out, r)
		text = text[n:]
	}
	return out
}
