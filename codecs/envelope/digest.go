package envelope

import (
	"crypto/sha256"
	"crypto/subtle"

	"sealab/codecs/b64"
	"sealab/codecs/envelope/compactjson"
	"sealab/codecs/rawjson"
)

// digestSize is the number of bytes that are kept of a SHA-256.
const digestSize = 16

// DigestArguments returns the claim that stands for the raw arguments of a
// request, nil where it has none: 22 characters. It fails where they are not
// JSON. The SDK digests {} for whatever Python takes for false, and for
// resources/read always.
func DigestArguments(method string, raw []byte) ([]byte, error) {
	canonical := emptyObject
	if raw != nil && method != "resources/read" {
		v, err := compactjson.Parse(raw)
		if err != nil {
			return nil, err
		}
		if !isFalse(&v) {
			canonical = compactjson.AppendSortedValue(make([]byte, 0, len(raw)), &v)
		}
	}
	sum := sha256.Sum256(canonical)
	return b64.AppendEncode(nil, sum[:digestSize]), nil
}

// emptyObject is what is digested where there are no arguments.
var emptyObject = []byte("{}")

// isFalse reports whether Python takes a value for false.
func isFalse(v *rawjson.Value) bool {
	switch v.Kind {
	case rawjson.True:
		return false
	case rawjson.Number:
		return isZero(v.Text)
	default:
		return len(v.Text)+len(v.Items)+len(v.Members) == 0
	}
}

// isZero reports whether a literal stands for 0, in time linear in its length.
func isZero(literal []byte) bool {
	if compactjson.IsFloat(literal) {
		return compactjson.ParseFloat(literal) == 0
	}
	return string(literal) == "0" || string(literal) == "-0"
}

// salt keeps two tokens of one principal from showing that they are.
type salt [8]byte

// principalLabel keeps the digest apart from every other use of SHA-256.
const principalLabel = "mcp/request-state/principal:"

// principalClaim returns the claim that stands for a principal.
func principalClaim(fresh salt, principal string) []byte {
	digest := principalDigest(fresh[:], principal)
	return b64.AppendEncode(nil, append(fresh[:], digest[:]...))
}

func principalDigest(salt []byte, principal string) [digestSize]byte {
	text := append(make([]byte, 0, 256), principalLabel...) // most have room
	text = append(append(text, salt...), principal...)
	sum := sha256.Sum256(text)
	return [digestSize]byte(sum[:])
}

// principalMatches compares a claim with a principal. A claim of another length
// than Mint gives matches nothing.
func principalMatches(claim []byte, principal string) bool {
	raw, ok := b64.AppendDecode(nil, claim)
	if !ok || len(raw) != len(salt{})+digestSize {
		return false
	}
	want := principalDigest(raw[:len(salt{})], principal)
	return subtle.ConstantTimeCompare(raw[len(salt{}):], want[:]) == 1
}
