package envelope

import (
	"crypto/sha256"
	"crypto/subtle"
	"hash"

	"sealab/codecs/b64"
	"sealab/codecs/envelope/compactjson"
)

// digestSize is the number of bytes that are kept of a SHA-256.
const digestSize = 16

// DigestArguments returns the claim that stands for the raw arguments of a
// request, nil if it has none: 22 characters. It fails if they are not JSON. The
// SDK digests {} for every value that Python takes for false, and for
// resources/read always.
func DigestArguments(method string, raw []byte) ([]byte, error) {
	if raw == nil || method == "resources/read" {
		return digestText(sha256.Sum256(emptyObject)), nil
	}
	var long hash.Hash // nil as long as there is one piece
	last, err := compactjson.StreamSorted(raw, func(piece []byte) {
		if long == nil {
			long = sha256.New()
		}
		long.Write(piece)
	})
	switch {
	case err != nil:
		return nil, err
	case long != nil:
		long.Write(last)
		return digestText([sha256.Size]byte(long.Sum(nil))), nil
	case isFalse(string(last)):
		last = emptyObject
	}
	return digestText(sha256.Sum256(last)), nil
}

func digestText(sum [sha256.Size]byte) []byte { return b64.AppendEncode(nil, sum[:digestSize]) }

// emptyObject is what is digested if there are no arguments.
var emptyObject = []byte("{}")

// isFalse reports whether Python takes a value in compact JSON for false.
func isFalse(compact string) bool {
	switch compact {
	case "null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}":
		return true
	}
	return false
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
