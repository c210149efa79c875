package mcpts

import (
	"fmt"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/rawjson"
)

// payloads converts between states and the payloads of tokens.
type payloads struct {
	isText bool // the payload is a string, and the state is its text
	// fromState appends the JSON text of the payload that carries a state.
	fromState func(dst, state []byte) ([]byte, error)
	// toState appends the state of a payload, which is nil if the claims have
	// none.
	toState func(dst []byte, payload *rawjson.Value) ([]byte, error)
}

// payloadKinds maps the values of the option payload.
var payloadKinds = map[string]payloads{
	framework.PayloadText: {true, textToPayload, payloadToText},
	framework.PayloadJSON: {false, jsonToPayload, payloadToJSON},
}

func textToPayload(dst, state []byte) ([]byte, error) {
	if !rawjson.ValidWTF8(state) {
		return dst, codecs.ErrUnsupported
	}
	return rawjson.Stringify.Append(dst, state), nil
}

// payloadToText returns codecs.ErrUnsupported unless the payload is a string.
// The SDK accepts such a token, but it has no text to return.
func payloadToText(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil || payload.Kind != rawjson.String {
		return dst, codecs.ErrUnsupported
	}
	return append(dst, payload.Text...), nil
}

func jsonToPayload(dst, state []byte) ([]byte, error) {
	v, err := rawjson.Parse(state)
	if err != nil || !rawjson.ValidUTF8(state) {
		return dst, codecs.ErrUnsupported
	}
	return rawjson.Stringify.AppendValue(dst, &v), nil
}

func payloadToJSON(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil {
		return dst, nil
	}
	return rawjson.Stringify.AppendValue(dst, payload), nil
}

// atob decodes text as the SDK does and appends the result to room.
func atob(room *base64url.Scratch, text []byte) bool {
	out, ok := framework.AtobDecode(room.Bytes, text)
	if ok {
		room.Bytes = out
	}
	return ok
}

// A callback appends the text that the SDK's bind callback returns for a
// context. It fails if the context lacks a needed part.
type callback func(dst []byte, c *codecs.Context) ([]byte, error)

// callbacks maps the values of the option bind.
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
	dst = rawjson.Stringify.AppendText(append(dst, '['), c.Method)
	dst = rawjson.Stringify.AppendText(append(dst, ','), c.Target)
	dst, err := compactjson.AppendDigest(append(dst, `,"`...), c.Method, c.Arguments)
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
	return rawjson.Stringify.AppendText(dst, *text)
}

// appendBindTag appends the tag of a context to dst. It uses the spare capacity
// of dst as working space.
func (s *scheme) appendBindTag(dst []byte, c *codecs.Context) ([]byte, error) {
	work, err := s.bind(dst, c)
	if err != nil {
		return dst, err
	}
	text := work[len(dst):]
	//mutant:equivalent a vector's context cannot hold the bytes
	if !rawjson.Valid(text) {
		return dst, fmt.Errorf("the binding is not text")
	}
	signed := s.mac.Append(work, bindLabelBytes, framework.TextEncode(text))
	sum := signed[len(work):][:bindSize]
	return append(dst, base64url.AppendEncode(signed, sum)[len(signed):]...), nil
}
