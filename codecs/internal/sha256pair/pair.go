// Package sha256pair computes SHA-256 (FIPS 180-4) of two texts at once.
//
// A round of SHA-256 waits for the one before. On amd64 with the SHA extensions the
// rounds of two texts run in turn, so that two digests take the time of the longer
// one. Elsewhere, and with the build tag purego, they come from crypto/sha256.
package sha256pair

import "crypto/sha256"

// Padding is the most bytes that Sum writes behind a text.
const Padding = sha256.BlockSize + lengthSize

// lengthSize is the size of the length at the end of the last block.
const lengthSize = 8

// Sum sets x and y to the digests of two texts. It works in the spare capacity of
// both texts, which do not share memory, if there is enough.
func Sum(x, y *[sha256.Size]byte, a, b []byte) { sum(x, y, a, b) }

// standard is Sum by the standard library, one text after the other.
func standard(x, y *[sha256.Size]byte, a, b []byte) {
	*x, *y = sha256.Sum256(a), sha256.Sum256(b)
}
