package broken

import (
	"encoding/base64"
	"slices"
	"strings"

	"sealab/codecs"
)

// framingNeighbors returns sound designs that resemble the controls of tokens of several parts, by name.
func framingNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a bounded count":    withClaim(aPair("nothing", "the token says how often the key is stretched, up to a bound", nil, nil, countUpTo(640)), codecs.Inert).Design,
		"a bounded exponent": withClaim(aPair("nothing", "the token says how often the key is stretched, as a power of two up to a bound", nil, nil, powerUpTo(10)), codecs.Inert).Design,
		"ignored segments": withDisclaimer(aPair("nothing", "segments behind the tag are not read", nil, nil, func(key []byte) pair {
			whole := splitAll(key)
			return pair{seal: whole.seal, unseal: func(token string) ([]byte, error) {
				texts := strings.Split(token, ".")
				return whole.unseal(strings.Join(texts[:min(2, len(texts))], "."))
			}}
		}), codecs.Canonical, "segments behind the tag are not read").Design,
		"numbered members":             aPair("nothing", "the tag is over members of JSON with their lengths", nil, nil, numberedMembers(true)).Design,
		"counted pieces":               aSealer("nothing", "pieces with a number, and a mark on the last", nil, nil, func(p *sealerParts) { inPieces(p, true) }).Design,
		"a key ID in front of the tag": aSealer("nothing", "the key ID has one byte, in front of the tag", nil, nil, keyIDInFront).Design,
	}
}

// keyIDInFront writes one byte of the key ID between the ciphertext and the tag.
func keyIDInFront(p *sealerParts) {
	derive := p.derive
	p.derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		return key, append(make([]byte, idSize-1), id[0])
	}
	p.frame = func(id, nonce, sealed []byte) string {
		cut := max(0, len(sealed)-gcmTag)
		return base64.RawURLEncoding.EncodeToString(slices.Concat(nonce, sealed[:cut], id[idSize-1:], sealed[cut:]))
	}
	p.unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		raw, ok := decodeCanonical(text)
		cut := len(raw) - gcmTag - 1
		if !ok || cut < nonceSize {
			return nil, nil, nil, false
		}
		return append(make([]byte, idSize-1), raw[cut]), raw[:nonceSize], slices.Concat(raw[nonceSize:cut], raw[cut+1:]), true
	}
}
