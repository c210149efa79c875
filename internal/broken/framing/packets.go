package framing

import (
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
	write := func(payload, tag []byte) string {
		return skeleton.JoinText(slices.Concat(packet(payload), packet(tag)))
	}
	return skeleton.FormattedPair(key, write, func(token string) (payload, tag []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(token)
		var texts [][]byte
		for ok && len(raw) > 0 {
			n, err := strconv.ParseUint(string(raw[:min(len(raw), 4)]), 16, 16)
			switch {
			case err != nil || len(raw) < 4 || int(n) > len(raw) || 0 < n && n < 4:
				return nil, nil, false
			case n == 0:
				raw = raw[4:]
			default:
				texts, raw = append(texts, raw[4:n]), raw[n:]
			}
		}
		if !ok || len(texts) != 2 || len(texts[1]) != sha256.Size {
			return nil, nil, false
		}
		return texts[0], texts[1], true
	})
}
