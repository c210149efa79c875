package tags

import (
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of tags, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a sum of numbered blocks": numberedBlocks(),
		"a tag of 16 bytes": skeleton.NewSigner("nothing", "the tag is cut to 16 bytes", nil, nil, func(p *skeleton.SignerParts) {
			p.TagSize, p.MAC = 16, func(key, message []byte) []byte { return skeleton.HMAC(key, message)[:16] }
			p.Also = p.MAC
		}).Design,
		"a macaroon with one caveat": skeleton.NewPair("nothing", "the payload is the only caveat of a macaroon", nil, nil, func(key []byte) skeleton.Pair { return inMacaroon(key, packets, true) }).Design,
		"a tree of hashes": skeleton.NewSigner("nothing", "the tag is that of the root of a tree of hashes (RFC 9162)", nil, nil, func(p *skeleton.SignerParts) {
			p.MAC = func(key, message []byte) []byte {
				return skeleton.HMAC(key, rootOf(message, func(last []byte) []byte { return last }))
			}
			p.Also = p.MAC
		}).Design,
		"signatures of ECDSA": skeleton.NewSigner("nothing", "the tag is an ECDSA signature whose nonce is derived from the key and the message", nil, nil, ecdsaTags(skeleton.HMAC)).Design,
		"a tag of two halves": skeleton.NewSigner("nothing", "each half of the tag is that of the whole message", nil, nil, func(p *skeleton.SignerParts) {
			p.MAC = func(key, message []byte) []byte {
				return slices.Concat(skeleton.HMAC(key, slices.Concat([]byte("1"), message))[:16], skeleton.HMAC(key, slices.Concat([]byte("2"), message))[:16])
			}
			p.Also = p.MAC
		}).Design,
	}
}
