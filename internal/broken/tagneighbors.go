package broken

import (
	"slices"

	"sealab/codecs"
)

// tagNeighbors returns sound designs that resemble the controls of tags, by name.
func tagNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a sum of numbered blocks": numberedBlocks(),
		"a tag of 16 bytes": aSigner("nothing", "the tag is cut to 16 bytes", nil, nil, func(p *signerParts) {
			p.tagSize, p.mac = 16, func(key, message []byte) []byte { return hmacSHA256(key, message)[:16] }
			p.also = p.mac
		}).Design,
		"signatures of ECDSA": aSigner("nothing", "the tag is an ECDSA signature whose nonce is derived from the key and the message", nil, nil, ecdsaTags(hmacSHA256)).Design,
		"a tag of two halves": aSigner("nothing", "each half of the tag is that of the whole message", nil, nil, func(p *signerParts) {
			p.mac = func(key, message []byte) []byte {
				return slices.Concat(hmacSHA256(key, slices.Concat([]byte("1"), message))[:16], hmacSHA256(key, slices.Concat([]byte("2"), message))[:16])
			}
			p.also = p.mac
		}).Design,
	}
}
