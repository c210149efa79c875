package broken

import (
	"crypto/hmac"
	"crypto/sha256"
	"slices"

	"sealab/internal/broken/skeleton"
)

// byteForVersion returns a codec of tokens
//
//	token = base64url(version || payload || tag[32])
//
// that writes version 1. It also reads version 0, whose tag covers one more byte.
func byteForVersion(key []byte) skeleton.Pair {
	behind := map[byte][]byte{1: nil, 0: {0}}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat([]byte{1}, payload, skeleton.HMAC(key, payload)))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil || len(parts[0]) <= sha256.Size || parts[0][0] > 1 {
				return nil, skeleton.ErrMalformed
			}
			payload, tag := parts[0][1:len(parts[0])-sha256.Size], parts[0][len(parts[0])-sha256.Size:]
			return payload, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, slices.Concat(payload, behind[parts[0][0]]))))
		},
	}
}
