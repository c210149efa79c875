// Package broken holds the negative controls of the attacks: codecs and schemes that are each broken on
// purpose in one property, by a mistake that a programmer might make. An attack that does not refute its
// control is blind.
//
// There are three sound skeletons: [signer], [sealer] and [envelope]. Most controls are a skeleton with
// one part replaced by a mistake. A control claims the properties that its author would have believed, so
// finding the mistake contradicts a claim.
//
// Use this package only to test attacks.
package broken

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sealab/codecs"
)

// A Control is a design with a known mistake.
type Control struct {
	codecs.Design
	// Breaks are the properties that the mistake breaks. Properties that depend on them break as well.
	Breaks []codecs.Property
	// Attacks are the IDs of the attacks that must refute the control.
	Attacks []string
	// Bytes is the least length of a hostile token at which the mistake shows. It is 0 if any length
	// suffices.
	Bytes int
}

// Controls returns every control.
func Controls() []Control {
	return slices.Concat(
		encodingControls(), framingControls(), segmentControls(), replacedTagControls(), tagCheckControls(), taggedTextControls(), earlyWorkControls(),
		confusedFieldControls(), confusedValueControls(), confusedNameControls(), confusedArgumentControls(), confusedClaimControls(),
		encryptionControls(), derivedNonceControls(), checksumControls(), weakTagControls(), keyStreamControls(),
		weakKeyControls(), keySeparationControls(), rotationControls(), refusalControls(),
		unboundControls(), equatedContextControls(), leakingControls(), rareBranchControls(), rareLengthControls(), longStateControls(),
		misjudgedTimeControls(), miswrittenTimeControls(), uncheckedTimeControls(), usedTokenControls(), resourceControls(),
		joseControls(), keptStateControls(), gluedStateControls(), lenientReaderControls(), binaryControls())
}

// Neighbors returns sound designs that resemble controls, by name. Attacks must not refute them.
func Neighbors() map[string]codecs.Design {
	all := soundCodecs()
	maps.Copy(all, soundSchemes())
	return all
}

func soundCodecs() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a signed JSON token":      aJWS("nothing", "signed JSON tokens", nil, "", func(*jws) {}).Design,
		"a sum of numbered blocks": numberedBlocks(),
		"a list in CBOR":           aPair("nothing", "payload and tag are a list in CBOR, written in one form", nil, nil, func(key []byte) pair { return inCBOR(key, true) }).Design,
		"blocks in base 62":        aPair("nothing", "blocks of 8 bytes are 11 digits of base 62, in one form", nil, nil, func(key []byte) pair { return inBase62(key, true) }).Design,
		"a length in groups":       aPair("nothing", "the length of the payload is in groups of seven bits, written in one form", nil, nil, func(key []byte) pair { return inGroups(key, true) }).Design,
		"a bounded count":          withClaim(aPair("nothing", "the token says how often the key is stretched, up to a bound", nil, nil, countUpTo(640)), codecs.Inert).Design,
		"a bounded exponent":       withClaim(aPair("nothing", "the token says how often the key is stretched, as a power of two up to a bound", nil, nil, powerUpTo(10)), codecs.Inert).Design,
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
		"a key for each salt": withClaim(aSigner("nothing", "a key is derived from the head of the payload by one HMAC", nil, nil, func(p *signerParts) {
			mac := p.mac
			p.mac = func(key, message []byte) []byte { return mac(mac(key, message[:min(16, len(message))]), message) }
			p.also = p.mac
		}), codecs.Inert).Design,
		"ignored segments": withDisclaimer(aPair("nothing", "segments behind the tag are not read", nil, nil, func(key []byte) pair {
			whole := splitAll(key)
			return pair{seal: whole.seal, unseal: func(token string) ([]byte, error) {
				texts := strings.Split(token, ".")
				return whole.unseal(strings.Join(texts[:min(2, len(texts))], "."))
			}}
		}), codecs.Canonical, "segments behind the tag are not read").Design,
		"numbered members": aPair("nothing", "the tag is over members of JSON with their lengths", nil, nil, numberedMembers(true)).Design,
		"numbered refusals": aSigner("nothing", "the reason of a refusal holds the number of the request", nil, nil, func(p *signerParts) {
			var requests atomic.Int64
			p.refuse = func(*entry, []byte, []byte, []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprint("refused, request ", requests.Add(1)))
			}
		}).Design,
		"quoted tokens": withBatches(aSealer("nothing", "in a batch, a refusal carries the token", nil, nil, func(*sealerParts) {}),
			func(token, _ []byte) []byte { return token }).Design,
		"named keys": aSigner("nothing", "the reason of a refusal holds the key ID, which the token shows", nil, nil, func(p *signerParts) {
			p.refuse = func(e *entry, _, _, _ []byte) error {
				return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("wrong tag under the key %x", e.id))
			}
		}).Design,
		"a tag before CBC":             aSealer("nothing", "the tag is encrypted in CBC with padding that is checked as a whole", nil, nil, func(p *sealerParts) { tagBeforeCBC(p, padWithLength, unpadChecked) }).Design,
		"counted pieces":               aSealer("nothing", "pieces with a number, and a mark on the last", nil, nil, func(p *sealerParts) { inPieces(p, true) }).Design,
		"bytes as numbers":             aSealer("nothing", "the payload is sealed as a list of numbers in JSON", nil, nil, asNumbers).Design,
		"a key ID in front of the tag": aSealer("nothing", "the key ID has one byte, in front of the tag", nil, nil, keyIDInFront).Design,
		"JSON within text":             aSealer("nothing", "JSON with base64 within base64url", nil, nil, withinJSON).Design,
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
		"compressed under a tag": compressedUnderATag("zlib",
			func(payload []byte) []byte { return inZlib(payload, zlib.DefaultCompression) }, zlib.NewReader),
		"deflated under a tag": compressedUnderATag("deflate",
			func(payload []byte) []byte { // without the header and checksum of zlib
				packed := inZlib(payload, zlib.DefaultCompression)
				return packed[2 : len(packed)-4]
			},
			func(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }),
	}
}

func soundSchemes() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a random name": wrappedScheme("nothing", "a token is the name of a state that the server keeps, of eight random bytes", nil, nil,
			namedTokens(func(uint32, []byte) string { return fmt.Sprintf("n1.%x", randomBytes(8)) })).Design,
		"a list of used tokens": withClaim(wrappedScheme("nothing", "all handles have one list of used tokens", nil, nil, usesListed(keepUses)), codecs.SingleUse).Design,
		"tokens without randomness, used once": withClaim(wrapScheme(aScheme("nothing", "all handles have one list of used tokens, and equal states are one token", nil, nil, func(p *schemeParts) {
			p.salt = func() []byte { return make([]byte, 16) }
		}), usesListed(keepUses)), codecs.SingleUse).Design,
		"an hour of skew": aScheme("nothing", "a time of issue may be an hour ahead", nil, nil, func(p *schemeParts) {
			p.timely = func(c *claims, now time.Time) bool {
				return c.within(unixSeconds(now.Add(time.Hour)), unixSeconds(now))
			}
		}).Design,
		"a vector of all": aDatedStream("nothing", "the vector is a digest of the state, its times and its context", nil, nil, func(times, state []byte, b *codecs.Context) []byte {
			return slices.Concat(times, []byte(encodeContext(b)), state)
		}).Design,
		"a month to live": aScheme("nothing", "there is no time of issue, and an expiry may be a month ahead", nil, nil, func(p *schemeParts) {
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) { return 0, unixSeconds(now.Add(ttl)) }
			p.timely = func(c *claims, now time.Time) bool {
				return c.Expires != nil && unixSeconds(now) < *c.Expires && *c.Expires <= unixSeconds(now.AddDate(0, 1, 0))
			}
		}).Design,
	}
}

// compressedUnderATag returns a sound design that compresses payloads and decompresses them after it has
// checked the tag.
func compressedUnderATag(format string, pack func(payload []byte) []byte, open func(io.Reader) (io.ReadCloser, error)) codecs.Design {
	return withDisclaimer(aSigner("nothing", "the payload is compressed in "+format+", and decompressed behind the tag", nil, nil, func(p *signerParts) {
		p.carried = pack
		p.unpacked = func(carried []byte) []byte {
			r, err := open(bytes.NewReader(carried))
			if err != nil {
				panic("broken: " + err.Error()) // it is authenticated
			}
			payload, err := io.ReadAll(r)
			if err != nil {
				panic("broken: " + err.Error())
			}
			return payload
		}
	}), codecs.Total, "a long state may have a short token").Design
}

// asNumbers packs a payload as a JSON list of its byte values, so that the length depends on them.
func asNumbers(p *sealerParts) {
	p.pack = func(payload []byte) []byte {
		numbers := make([]uint16, len(payload))
		for i, b := range payload {
			numbers[i] = uint16(b)
		}
		return inJSON(numbers)
	}
	p.unpack = func(packed []byte) ([]byte, error) {
		var numbers []uint16
		if err := json.Unmarshal(packed, &numbers); err != nil {
			return nil, errMalformed
		}
		payload := make([]byte, len(numbers))
		for i, n := range numbers {
			payload[i] = byte(n)
		}
		return payload, nil
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

// inJSON encodes a value that always has a JSON encoding.
func inJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("broken: " + err.Error())
	}
	return text
}

// withClaim makes the control claim a property that it breaks.
func withClaim(c Control, p codecs.Property) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Holds: true})
}

// withDisclaimer makes the control disclaim a property.
func withDisclaimer(c Control, p codecs.Property, reason string) Control {
	return withGuarantee(c, codecs.Guarantee{Property: p, Reason: reason})
}

// withGuarantee replaces the control's guarantee for a property.
func withGuarantee(c Control, g codecs.Guarantee) Control {
	others := slices.DeleteFunc(c.GuaranteesFor(nil), func(other codecs.Guarantee) bool { return other.Property == g.Property })
	c.Guarantees = codecs.Always(others, []codecs.Guarantee{g})
	return c
}

var (
	errMalformed   = codecs.Reject(codecs.Malformed, "malformed")
	errUnknownKey  = codecs.Reject(codecs.UnknownKey, "unknown key")
	errUnauthentic = codecs.Reject(codecs.Unauthentic, "tag")
	errMisbound    = codecs.Reject(codecs.Misbound, "context")
	errExpired     = codecs.Reject(codecs.Expired, "time")
)
