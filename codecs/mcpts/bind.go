package mcpts

import (
	"fmt"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
	"sealab/codecs/internal/stringify"
)

// A callback appends the text that an application gives the SDK as bind: it
// stands for a request's context. It fails if the context has none.
type callback func(dst []byte, c *codecs.Context) ([]byte, error)

// callbacks are the values of the option bind.
var callbacks = map[string]callback{
	bindNone:      nil,
	bindPrincipal: bindToPrincipal,
	bindRequest:   bindToRequest,
}

func bindToPrincipal(dst []byte, c *codecs.Context) ([]byte, error) {
	if c.Principal == nil {
		return dst, nil
	}
	return append(dst, *c.Principal...), nil
}

func bindToRequest(dst []byte, c *codecs.Context) ([]byte, error) {
	dst = stringify.Printer.AppendText(append(dst, '['), c.Method)
	dst = stringify.Printer.AppendText(append(dst, ','), c.Target)
	dst, err := claims.AppendDigest(append(dst, `,"`...), c.Method, c.Arguments)
	//mutant:equivalent the format has no digest of such arguments, so no token matches
	if err != nil {
		return nil, err
	}
	dst = appendOptional(append(dst, `",`...), c.Principal)
	dst = appendOptional(append(dst, ','), c.Audience)
	return append(dst, ']'), nil
}

func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	return stringify.Printer.AppendText(dst, *text)
}

// appendBindTag appends the tag of a context to dst, whose spare capacity is
// working space.
func (s *Scheme) appendBindTag(dst []byte, c *codecs.Context) ([]byte, error) {
	work, err := s.bind(dst, c)
	if err != nil {
		return dst, err
	}
	text := work[len(dst):]
	if !rawjson.Valid(text) {
		return dst, fmt.Errorf("the binding is not text")
	}
	signed := s.mac.Append(work, bindLabelBytes, encodeText(text))
	sum := signed[len(work):][:bindSize]
	return append(dst, base64url.AppendEncode(signed, sum)[len(signed):]...), nil
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
