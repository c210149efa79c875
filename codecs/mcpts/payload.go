package mcpts

import (
	"sealab/codecs"
	"sealab/codecs/rawjson"
)

// payloads is how states and the payloads of tokens correspond.
type payloads struct {
	// fromState returns the JSON text of the payload that carries a state.
	fromState func(state []byte) ([]byte, error)
	// toState appends the state that a payload carries, nil where the claims
	// have none.
	toState func(dst []byte, payload *rawjson.Value) ([]byte, error)
}

// payloadKinds are the values of the option payload.
var payloadKinds = map[string]payloads{
	payloadText: {textToPayload, payloadToText},
	payloadJSON: {jsonToPayload, payloadToJSON},
}

func textToPayload(state []byte) ([]byte, error) {
	if !rawjson.ValidWTF8(state) {
		return nil, codecs.ErrUnsupported
	}
	return stringify.AppendString(make([]byte, 0, len(state)+16), state), nil
}

// payloadToText returns codecs.ErrUnsupported where the payload is no string:
// the SDK accepts such a token, and there is no text to return.
func payloadToText(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil || payload.Kind != rawjson.String {
		return dst, codecs.ErrUnsupported
	}
	return append(dst, payload.Text...), nil
}

func jsonToPayload(state []byte) ([]byte, error) {
	v, err := rawjson.Parse(state)
	if err != nil || !rawjson.Valid(state) {
		return nil, codecs.ErrUnsupported
	}
	return stringify.AppendValue(make([]byte, 0, len(state)), &v), nil
}

func payloadToJSON(dst []byte, payload *rawjson.Value) ([]byte, error) {
	if payload == nil {
		return dst, nil
	}
	return stringify.AppendValue(dst, payload), nil
}
