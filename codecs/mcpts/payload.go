package mcpts

import (
	"sealab/codecs"
	"sealab/codecs/internal/rawjson"
	"sealab/codecs/internal/stringify"
)

// payloads is how states and the payloads of tokens correspond.
type payloads struct {
	isText bool // the payload is a string, and the state its text
	// fromState appends the JSON text of the payload that carries a state.
	fromState func(dst, state []byte) ([]byte, error)
	// toState appends the state of a payload, nil if the claims have no payload.
	toState func(dst []byte, payload *rawjson.Value) ([]byte, error)
}

// payloadKinds are the values of the option payload.
var payloadKinds = map[string]payloads{
	payloadText: {true, textToPayload, payloadToText},
	payloadJSON: {false, jsonToPayload, payloadToJSON},
}

func textToPayload(dst, state []byte) ([]byte, error) {
	if !rawjson.ValidWTF8(state) {
		return dst, codecs.ErrUnsupported
	}
	return stringify.Printer.Append(dst, state), nil
}

// payloadToText returns codecs.ErrUnsupported unless the payload is a string: the
// SDK accepts such a token, and it has no text to return.
func payloadToText(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil || payload.Kind != rawjson.String {
		return dst, codecs.ErrUnsupported
	}
	return append(dst, payload.Text...), nil
}

func jsonToPayload(dst, state []byte) ([]byte, error) {
	v, err := rawjson.Parse(state)
	if err != nil || !rawjson.Valid(state) {
		return dst, codecs.ErrUnsupported
	}
	return stringify.Printer.AppendValue(dst, &v), nil
}

func payloadToJSON(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil {
		return dst, nil
	}
	return stringify.Printer.AppendValue(dst, payload), nil
}
