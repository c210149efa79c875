package skeleton

import (
	"crypto/hmac"
	"crypto/sha256"

	"sealab/internal/lab"
)

// Sum256 returns the SHA-256 of a message.
func Sum256(message []byte) []byte {
	sum := sha256.Sum256(message)
	return sum[:]
}

// RandomBytes returns n random bytes.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	lab.Random(b)
	return b
}

// HMAC returns the HMAC-SHA256 of a message.
func HMAC(key, message []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(message)
	return m.Sum(nil)
}
