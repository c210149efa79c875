package framing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/internal/broken/skeleton"
)

// countUpTo stretches keys as many times as a token says, up to a limit.
func countUpTo(most uint16) func(key []byte) skeleton.Pair {
	return func(key []byte) skeleton.Pair { return stretchedCodec(key, most) }
}

// stretchedTag returns the tag of a payload under a stretched key.
func stretchedTag(key []byte, count int, payload []byte) []byte {
	stretched := key
	for range count / 64 {
		stretched = slices.Concat(stretched[1:], stretched[:1], make([]byte, 2000))[:sha256.Size] // tests count its allocations
	}
	return skeleton.HMAC(stretched, fmt.Appendf(nil, "%d.%s", count, payload))
}

// powerUpTo writes the base-2 logarithm of the count in a byte before the payload, and reads it up to a
// limit.
func powerUpTo(most byte) func(key []byte) skeleton.Pair {
	const usual = 8
	return func(key []byte) skeleton.Pair {
		return skeleton.Pair{
			Write: func(payload []byte) string {
				return skeleton.JoinText(append([]byte{usual}, payload...), stretchedTag(key, 1<<usual, payload))
			},
			Read: func(token string) ([]byte, error) {
				parts, err := skeleton.SplitText(token, 2)
				if err != nil || len(parts[0]) == 0 || parts[0][0] > most {
					return nil, skeleton.ErrMalformed
				}
				payload := parts[0][1:]
				return payload, skeleton.Authentic(hmac.Equal(parts[1], stretchedTag(key, 1<<parts[0][0], payload)))
			},
		}
	}
}

// countWord writes the count before the payload, as a letter and digits.
func countWord(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return "r10." + skeleton.JoinText(payload, stretchedTag(key, 10, payload))
		},
		Read: func(token string) ([]byte, error) {
			word, rest, _ := strings.Cut(token, ".")
			count, err := strconv.ParseUint(strings.TrimPrefix(word, "r"), 10, 20)
			parts, malformed := skeleton.SplitText(rest, 2)
			if err != nil || malformed != nil || word != fmt.Sprintf("r%d", count) {
				return nil, skeleton.ErrMalformed
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], stretchedTag(key, int(count), parts[0])))
		},
	}
}

func stretchedCodec(key []byte, most uint16) skeleton.Pair {
	tag := func(count uint16, payload []byte) []byte { return stretchedTag(key, int(count), payload) }
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{0, 9}, payload, tag(9, payload)))
		},
		Read: func(token string) ([]byte, error) {
			raw, ok := skeleton.DecodeCanonical(token)
			if !ok || len(raw) < 2+sha256.Size || binary.BigEndian.Uint16(raw) > most {
				return nil, skeleton.ErrMalformed
			}
			payload, right, count := raw[2:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:], binary.BigEndian.Uint16(raw)
			return payload, skeleton.Authentic(hmac.Equal(right, tag(count, payload)))
		},
	}
}
