package encryption

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of encryption, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a tag before CBC":         skeleton.NewSealer("nothing", "the tag is encrypted in CBC with padding that is checked as a whole", nil, nil, func(p *skeleton.SealerParts) { tagBeforeCBC(p, skeleton.PadWithLength, unpadChecked) }).Design,
		"JSON or base64":           skeleton.NewSealer("nothing", "a JSON payload is sealed as it is, another one in base64", nil, nil, inJSONOrBase64).Design,
		"bytes as numbers":         skeleton.NewSealer("nothing", "the payload is sealed as a list of numbers in JSON", nil, nil, asNumbers).Design,
		"nonces from a mixed seed": skeleton.NewSealer("nothing", "nonces are drawn from a generator, whose seed takes in refused tokens", nil, nil, drawnNonces(skeleton.HMAC)).Design,
		"GMAC":                     skeleton.WithDisclaimer(skeleton.NewSealer("nothing", "payloads are authenticated by GMAC with random nonces", nil, nil, withGMAC), codecs.Confidentiality, "the payload is readable").Design,
		"a header that repeats": skeleton.NewSealer("nothing", "a constant header holds one text many times", nil, nil, func(p *skeleton.SealerParts) {
			header, frame, unframe := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte("- "), 60))+".", p.Frame, p.Unframe
			p.Frame = func(id, nonce, sealed []byte) string { return header + frame(id, nonce, sealed) }
			p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
				if text, ok = strings.CutPrefix(text, header); !ok {
					return nil, nil, nil, false
				}
				return unframe(text, nonceSize)
			}
		}).Design,
		"a vector of all": aDatedStream("nothing", "the vector is a digest of the state, its times and its context", nil, nil, func(times, state []byte, b *codecs.Context) []byte {
			return slices.Concat(times, []byte(skeleton.EncodeContext(b)), state)
		}).Design,
	}
}

// asNumbers packs a payload as a JSON list of its byte values, so that the length depends on them.
func asNumbers(p *skeleton.SealerParts) {
	p.Pack = func(payload []byte) []byte {
		numbers := make([]uint16, len(payload))
		for i, b := range payload {
			numbers[i] = uint16(b)
		}
		return skeleton.InJSON(numbers)
	}
	p.Unpack = func(packed []byte) ([]byte, error) {
		var numbers []uint16
		if err := json.Unmarshal(packed, &numbers); err != nil {
			return nil, skeleton.ErrMalformed
		}
		payload := make([]byte, len(numbers))
		for i, n := range numbers {
			payload[i] = byte(n)
		}
		return payload, nil
	}
}
