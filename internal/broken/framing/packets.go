package framing

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"sealab/internal/broken/skeleton"
)

// flushedPackets returns a codec of tokens
//
//	token = base64url(packet(payload) || packet(tag[32]))
//	packet(text) = length[4 hexadecimal digits] || text
//
// whose length counts all of it. The reader skips packets of the length 0.
func flushedPackets(key []byte) skeleton.Pair {
	packet := func(text []byte) []byte { return fmt.Appendf(nil, "%04x%s", len(text)+4, text) }
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(slices.Concat(packet(payload), packet(skeleton.HMAC(key, payload))))
		},
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 1)
			if err != nil {
				return nil, err
			}
			var texts [][]byte
			for raw := parts[0]; len(raw) > 0; {
				n, err := strconv.ParseUint(string(raw[:min(len(raw), 4)]), 16, 16)
				switch {
				case err != nil || len(raw) < 4 || int(n) > len(raw) || 0 < n && n < 4:
					return nil, skeleton.ErrMalformed
				case n == 0:
					raw = raw[4:]
				default:
					texts, raw = append(texts, raw[4:n]), raw[n:]
				}
			}
			if len(texts) != 2 || len(texts[1]) != sha256.Size {
				return nil, skeleton.ErrMalformed
			}
			return texts[0], skeleton.Authentic(hmac.Equal(texts[1], skeleton.HMAC(key, texts[0])))
		},
	}
}
