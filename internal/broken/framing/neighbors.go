package framing

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of tokens of several parts, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a bounded count":    skeleton.WithClaim(skeleton.NewPair("nothing", "the token says how often the key is stretched, up to a bound", nil, nil, countUpTo(640)), codecs.Inert).Design,
		"a bounded exponent": skeleton.WithClaim(skeleton.NewPair("nothing", "the token says how often the key is stretched, as a power of two up to a bound", nil, nil, powerUpTo(10)), codecs.Inert).Design,
		"ignored segments": skeleton.WithDisclaimer(skeleton.NewPair("nothing", "segments behind the tag are not read", nil, nil, func(key []byte) skeleton.Pair {
			whole := skeleton.TaggedPair(key)
			return skeleton.Pair{Write: whole.Write, Read: func(token string) ([]byte, error) {
				texts := strings.Split(token, ".")
				return whole.Read(strings.Join(texts[:min(2, len(texts))], "."))
			}}
		}), codecs.Canonical, "segments behind the tag are not read").Design,
		"a prefix or none": skeleton.WithDisclaimer(skeleton.NewPair("nothing", "a prefix in any case may stand in front", nil, nil, func(key []byte) skeleton.Pair {
			bare := skeleton.TaggedPair(key)
			return skeleton.Pair{Write: func(payload []byte) string { return "pass_" + bare.Write(payload) }, Read: func(token string) ([]byte, error) {
				if len(token) >= 5 && strings.EqualFold(token[:5], "pass_") {
					token = token[5:]
				}
				return bare.Read(token)
			}}
		}), codecs.Canonical, "the prefix does not count").Design,
		"numbered members":             skeleton.NewPair("nothing", "the tag is over members of JSON with their lengths", nil, nil, numberedMembers(true)).Design,
		"counted pieces":               skeleton.NewSealer("nothing", "pieces with a number, and a mark on the last", nil, nil, func(p *skeleton.SealerParts) { inPieces(p, true, math.MaxUint32) }).Design,
		"a key ID in front of the tag": skeleton.NewSealer("nothing", "the key ID has one byte, in front of the tag", nil, nil, keyIDInFront).Design,
		"parts joined": skeleton.WithDisclaimer(skeleton.NewSealer("nothing", "the bytes of three parts are joined, and characters outside of base64 skipped", nil, nil, partsJoined),
			codecs.Canonical, "the borders of parts and other characters do not count").Design,
	}
}

// partsJoined writes the key ID with the nonce, the ciphertext and the tag as three parts. The reader joins their
// bytes, as libraries for JWE do, and skips characters outside of base64.
func partsJoined(p *skeleton.SealerParts) {
	p.Frame = func(id, nonce, sealed []byte) string {
		cut := max(0, len(sealed)-skeleton.GCMTag)
		var parts []string
		for _, part := range [][]byte{slices.Concat(id, nonce), sealed[:cut], sealed[cut:]} {
			parts = append(parts, base64.RawURLEncoding.EncodeToString(part))
		}
		return strings.Join(parts, ".")
	}
	p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		parts := strings.Split(text, ".")
		var raw []byte
		for _, part := range parts {
			letters := strings.Map(func(r rune) rune {
				if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
					return r
				}
				return -1
			}, part)
			b, err := base64.RawURLEncoding.DecodeString(letters)
			if err != nil {
				return nil, nil, nil, false
			}
			raw = append(raw, b...)
		}
		head := skeleton.IDSize + nonceSize
		if len(parts) != 3 || len(raw) < head {
			return nil, nil, nil, false
		}
		return raw[:skeleton.IDSize], raw[skeleton.IDSize:head], raw[head:], true
	}
}

// keyIDInFront writes one byte of the key ID between the ciphertext and the tag.
func keyIDInFront(p *skeleton.SealerParts) {
	derive := p.Derive
	p.Derive = func(secret []byte) (key, id []byte) {
		key, id = derive(secret)
		return key, append(make([]byte, skeleton.IDSize-1), id[0])
	}
	p.Frame = func(id, nonce, sealed []byte) string {
		cut := max(0, len(sealed)-skeleton.GCMTag)
		return base64.RawURLEncoding.EncodeToString(slices.Concat(nonce, sealed[:cut], id[skeleton.IDSize-1:], sealed[cut:]))
	}
	p.Unframe = func(text string, nonceSize int) (id, nonce, sealed []byte, ok bool) {
		raw, ok := skeleton.DecodeCanonical(text)
		cut := len(raw) - skeleton.GCMTag - 1
		if !ok || cut < nonceSize {
			return nil, nil, nil, false
		}
		return append(make([]byte, skeleton.IDSize-1), raw[cut]), raw[:nonceSize], slices.Concat(raw[nonceSize:cut], raw[cut+1:]), true
	}
}
