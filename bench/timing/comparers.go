package timing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"math/rand/v2"
)

const tagSize = sha256.Size

// A comparer tells whether two tags are equal.
type comparer func(want, got []byte) bool

// earlyExit is the mistake that all of this is about: it stops at the first
// byte that differs.
func earlyExit(want, got []byte) bool {
	for i := range want {
		if want[i] != got[i] {
			return false
		}
	}
	return true
}

// A verifier checks tags over one fixed message, as a server checks tokens: it
// computes the tag and compares.
type verifier struct {
	mac     hash.Hash
	message []byte
	sum     []byte
	equal   comparer
	refused int // keeps the compiler from leaving the comparison out
}

// newVerifier returns a verifier under a random key for a message of size bytes.
func newVerifier(random *rand.Rand, size int, equal comparer) *verifier {
	return &verifier{mac: hmac.New(sha256.New, randomBytes(random, 32)), message: randomBytes(random, size), equal: equal}
}

// tag returns the right tag, until the next call.
func (v *verifier) tag() []byte {
	v.mac.Reset()
	v.mac.Write(v.message)
	v.sum = v.mac.Sum(v.sum[:0])
	return v.sum
}

func (v *verifier) check(tag []byte) {
	if !v.equal(v.tag(), tag[:tagSize]) {
		v.refused++
	}
}

// wrongAt returns tags that differ from the right one in the byte at place.
func (v *verifier) wrongAt(random *rand.Rand, place int) [][]byte {
	pool := make([][]byte, poolSize)
	for i := range pool {
		pool[i] = append(bytes.Clone(v.tag()), 0)
		pool[i][place] ^= byte(1 + random.IntN(255))
	}
	return pool
}

// marked returns tags like wrongAt's first ones, with mark behind them for
// controls that look at it.
func (v *verifier) marked(random *rand.Rand, mark byte) [][]byte {
	pool := v.wrongAt(random, 0)
	for _, tag := range pool {
		tag[tagSize] = mark
	}
	return pool
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}
