package broken

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"sealab/codecs"
)

// encodingNeighbors returns sound designs that resemble the controls of texts and binary formats, by name.
func encodingNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a list in CBOR":     aPair("nothing", "payload and tag are a list in CBOR, written in one form", nil, nil, func(key []byte) pair { return inCBOR(key, true) }).Design,
		"blocks in base 62":  aPair("nothing", "blocks of 8 bytes are 11 digits of base 62, in one form", nil, nil, func(key []byte) pair { return inBase62(key, true) }).Design,
		"a length in groups": aPair("nothing", "the length of the payload is in groups of seven bits, written in one form", nil, nil, func(key []byte) pair { return inGroups(key, true) }).Design,
		"JSON within text":   aSealer("nothing", "JSON with base64 within base64url", nil, nil, withinJSON).Design,
		"text within text": aSealer("nothing", "hexadecimal within base64url", nil, nil, func(p *sealerParts) {
			p.frame = func(id, nonce, sealed []byte) string {
				return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%x", slices.Concat(id, nonce, sealed)))
			}
			p.unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
				inner, ok := decodeCanonical(text)
				raw, err := hex.DecodeString(string(inner))
				if !ok || err != nil || hex.EncodeToString(raw) != string(inner) || len(raw) < idSize+nonceSize {
					return nil, nil, nil, false
				}
				return raw[:idSize], raw[idSize : idSize+nonceSize], raw[idSize+nonceSize:], true
			}
		}).Design,
	}
}

// withinJSON writes a token as JSON in base64url. It accepts only one spelling.
func withinJSON(p *sealerParts) {
	type envelope struct {
		Value []byte `json:"value"`
		Tag   string `json:"tag"`
	}
	write := func(e envelope) string { return joinText(inJSON(e)) }
	p.frame = func(id, nonce, sealed []byte) string {
		n := max(0, len(sealed)-gcmTag)
		return write(envelope{slices.Concat(id, nonce, sealed[:n]), hex.EncodeToString(sealed[n:])})
	}
	p.unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		inner, ok := decodeCanonical(text)
		var e envelope
		if !ok || json.Unmarshal(inner, &e) != nil || write(e) != text || len(e.Value) < idSize+nonceSize {
			return nil, nil, nil, false
		}
		tag, err := hex.DecodeString(e.Tag)
		if err != nil {
			tag = nil // a tag of the wrong length
		}
		return e.Value[:idSize], e.Value[idSize : idSize+nonceSize], append(e.Value[idSize+nonceSize:], tag...), hex.EncodeToString(tag) == e.Tag || err != nil
	}
}
