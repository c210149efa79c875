package encoding

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of texts and binary formats, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a list in CBOR":     skeleton.NewPair("nothing", "payload and tag are a list in CBOR, written in one form", nil, nil, func(key []byte) skeleton.Pair { return inCBOR(key, true) }).Design,
		"blocks in base 62":  skeleton.NewPair("nothing", "blocks of 8 bytes are 11 digits of base 62, in one form", nil, nil, func(key []byte) skeleton.Pair { return inBase62(key, true) }).Design,
		"a length in groups": skeleton.NewPair("nothing", "the length of the payload is in groups of seven bits, written in one form", nil, nil, func(key []byte) skeleton.Pair { return inGroups(key, true) }).Design,
		"JSON within text":   skeleton.NewSealer("nothing", "JSON with base64 within base64url", nil, nil, withinJSON).Design,
		"text within text": skeleton.NewSealer("nothing", "hexadecimal within base64url", nil, nil, func(p *skeleton.SealerParts) {
			p.Frame = func(id, nonce, sealed []byte) string {
				return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%x", slices.Concat(id, nonce, sealed)))
			}
			p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
				inner, ok := skeleton.DecodeCanonical(text)
				raw, err := hex.DecodeString(string(inner))
				if !ok || err != nil || hex.EncodeToString(raw) != string(inner) || len(raw) < skeleton.IDSize+nonceSize {
					return nil, nil, nil, false
				}
				return raw[:skeleton.IDSize], raw[skeleton.IDSize : skeleton.IDSize+nonceSize], raw[skeleton.IDSize+nonceSize:], true
			}
		}).Design,
	}
}

// withinJSON writes a token as JSON in base64url. It accepts only one spelling.
func withinJSON(p *skeleton.SealerParts) {
	type envelope struct {
		Value []byte `json:"value"`
		Tag   string `json:"tag"`
	}
	write := func(e envelope) string { return skeleton.JoinText(skeleton.InJSON(e)) }
	p.Frame = func(id, nonce, sealed []byte) string {
		n := max(0, len(sealed)-skeleton.GCMTag)
		return write(envelope{Value: slices.Concat(id, nonce, sealed[:n]), Tag: hex.EncodeToString(sealed[n:])})
	}
	p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		inner, ok := skeleton.DecodeCanonical(text)
		var e envelope
		if !ok || json.Unmarshal(inner, &e) != nil || write(e) != text || len(e.Value) < skeleton.IDSize+nonceSize {
			return nil, nil, nil, false
		}
		tag, err := hex.DecodeString(e.Tag)
		if err != nil {
			tag = nil // a tag of the wrong length
		}
		return e.Value[:skeleton.IDSize], e.Value[skeleton.IDSize : skeleton.IDSize+nonceSize], append(e.Value[skeleton.IDSize+nonceSize:], tag...), hex.EncodeToString(tag) == e.Tag || err != nil
	}
}
