package mcppy

import (
	"crypto/sha256"
	"crypto/subtle"

	"sealab/codecs/internal/base64url"
)

// salt keeps two tokens of one principal from showing that they are.
type salt [8]byte

// principalLabel keeps the digest apart from every other use of SHA-256.
const principalLabel = "mcp/request-state/principal:"

// digestSize is the number of bytes that are kept of a SHA-256.
const digestSize = 16

// claimSize is the length of the claim of a principal.
const claimSize = (len(salt{}) + digestSize) / 3 * 4

// principalClaim returns the claim that stands for a principal, in the spare
// capacity of room if there is enough.
func principalClaim(room []byte, fresh salt, principal string) []byte {
	digest := principalDigest(fresh[:], principal)
	raw := append(append(room, fresh[:]...), digest[:]...)
	return base64url.AppendEncode(raw, raw[len(room):])[len(raw):]
}

func principalDigest(salt []byte, principal string) [digestSize]byte {
	text := append(make([]byte, 0, 256), principalLabel...) // most have room
	text = append(append(text, salt...), principal...)
	sum := sha256.Sum256(text)
	return [digestSize]byte(sum[:])
}

// principalMatches compares a claim with a principal, in the spare capacity of room
// if there is enough. It reports false if the claim is shorter or longer than a claim
// that Mint writes.
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
