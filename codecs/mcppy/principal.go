package mcppy

import (
	"crypto/sha256"
	"crypto/subtle"

	"sealab/codecs/internal/base64url"
)

// A salt makes the claims of two tokens of one principal differ.
type salt [8]byte

// principalLabel separates the digest from other uses of SHA-256.
const principalLabel = "mcp/request-state/principal:"

// digestSize is the length in bytes of a truncated SHA-256.
const digestSize = 16

// claimSize is the length in bytes of the claim of a principal.
const claimSize = (len(salt{}) + digestSize) / 3 * 4

// principalClaim returns the claim of a principal as a quoted string. It uses
// the spare capacity of room if there is enough.
func principalClaim(room []byte, fresh salt, principal string) []byte {
	digest := principalDigest(fresh[:], principal)
	raw := append(append(room, fresh[:]...), digest[:]...)
	return append(base64url.AppendEncode(append(raw, '"'), raw[len(room):]), '"')[len(raw):]
}

func principalDigest(salt []byte, principal string) [digestSize]byte {
	text := append(make([]byte, 0, 256), principalLabel...) // large enough for most
	text = append(append(text, salt...), principal...)
	sum := sha256.Sum256(text)
	return [digestSize]byte(sum[:])
}

// principalMatches reports whether claim is the claim of principal. It uses the
// spare capacity of room if there is enough. A claim of another length than
// Mint writes does not match.
func principalMatches(room, claim []byte, principal string) bool {
	if len(claim) != claimSize {
		return false
	}
	raw, ok := base64url.AppendDecode(room, claim)
	if !ok {
		return false
	}
	raw = raw[len(room):]
	want := principalDigest(raw[:len(salt{})], principal)
	return subtle.ConstantTimeCompare(raw[len(salt{}):], want[:]) == 1
}
