package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"time"

	"sealab/codecs"
)

// Facts are the limits and the standing of a design, beside its guarantees, by
// which one chooses.
type Facts struct {
	// NonceBits is the length of the random nonce that must not repeat under one
	// key; 0 without a nonce.
	NonceBits int
	// Log2Tokens and Log2Bytes are the logarithms of the number of tokens and of
	// payload bytes under one key; 0: no such limit.
	Log2Tokens, Log2Bytes float64
	// Source names the source of the limits.
	Source string
	// ForgeryBits is the negated logarithm of the probability that one forged token
	// of one block is accepted; 0 if it is a matter of computation, as for signatures.
	// ForgeryPerBlock says that it grows with the number of blocks of 16 bytes, as that
	// of a tag that is a polynomial.
	ForgeryBits     float64
	ForgeryPerBlock bool

	// Approved names the NIST publications that approve every algorithm; "" if one
	// is not approved.
	Approved string
	// Quantum is how a quantum computer breaks a guarantee; "" if no attack better
	// than a search for the key is known.
	Quantum string
	// Use is the Go expression that opens the design, from its package name on.
	Use string
	// Languages are those, beside Go, in which a program of this repository reads
	// the design's vectors.
	Languages []string
}

// collisionRisk is the logarithm of the probability at which a key is used up.
const collisionRisk = -32

// BirthdayTokens returns the logarithm of the number of random nonces of the
// given length for which the probability that two are equal is 2^risk at most.
// With n nonces it is below n^2 / 2^(bits+1) (birthday bound).
func BirthdayTokens(bits int, risk float64) float64 { return (float64(bits) + 1 + risk) / 2 }

// TagGuesses returns the logarithm of the number of guesses of a tag, each of which is
// right with probability 2^-bits, until one is right with probability 2^risk at most
// (union bound).
func TagGuesses(bits, risk float64) float64 { return bits + risk }

// TokensPerKey returns the logarithm of the number of tokens with payloads of the
// given size that one key seals; +Inf if there is no limit. A limit in bytes counts
// whole blocks of 16.
func (f *Facts) TokensPerKey(payload int) float64 {
	limit := math.Inf(1)
	if f.NonceBits > 0 {
		limit = BirthdayTokens(f.NonceBits, collisionRisk)
	}
	if f.Log2Tokens > 0 {
		limit = min(limit, f.Log2Tokens)
	}
	if f.Log2Bytes > 0 {
		blocks := max((payload+15)/16, 1)
		limit = min(limit, f.Log2Bytes-math.Log2(float64(16*blocks)))
	}
	return limit
}

// Log2Forgeries returns the logarithm of the number of forged tokens with payloads of
// the given size that may be presented under one key, until one is accepted with
// probability 2^collisionRisk. It is +Inf if there is no such number.
//
// The sources are: for GCM and Poly1305, draft-irtf-cfrg-aead-limits, section 6, with
// 2^-127 and 2^-103 a block in one guess; for POLYVAL, the bound of GCM, because RFC
// 8452, section 9, says only that the advantage is linear in the guesses; for the
// others, a guess of a tag. One block holds the lengths, and one the prefix and key ID.
func (f *Facts) Log2Forgeries(payload int) float64 {
	if f.ForgeryBits == 0 {
		return math.Inf(1)
	}
	blocks := 1
	if f.ForgeryPerBlock {
		blocks = (payload+15)/16 + 2
	}
	return TagGuesses(f.ForgeryBits-math.Log2(float64(blocks)), collisionRisk)
}

// TokenLength seals a payload of n bytes and returns the length of the token in
// bytes. The payload is JSON text, which every design carries, and so has at least
// 2 bytes in a scheme.
func TokenLength(d codecs.Design, n int) (int, error) {
	payload := bytes.Repeat([]byte("x"), n)
	if d.IsScheme() {
		payload = fmt.Appendf(nil, "%q", payload[min(n, 2):])
	}
	token, err := Sample(d, payload)
	return len(token), err
}

// Sample returns a token of the payload under a public key, for a fixed request. If
// the design can be seeded, it is the same each time.
func Sample(d codecs.Design, payload []byte) ([]byte, error) {
	in, err := Open(d, codecs.Config{Secrets: [][]byte{counting(cmp.Or(d.KeySize, codecs.MinSecret))}})
	if err != nil {
		return nil, fmt.Errorf("measuring %s: %w", d.Name, err)
	}
	request := &codecs.Context{
		Now: time.Unix(1_795_132_800, 0), Method: "tools/call", Target: "deploy", Principal: new("alice"), Audience: new("server"),
	}
	seal := in.Seal
	if in.Seeded() {
		seal = func(dst, payload []byte, c *codecs.Context) ([]byte, error) {
			return in.SealSeeded(dst, counting(in.SeedSize()), payload, c)
		}
	}
	token, err := seal(nil, payload, request)
	if err != nil {
		return nil, fmt.Errorf("measuring %s: %w", d.Name, err)
	}
	return token, nil
}

// counting returns the bytes 0, 1, 2 and so on.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
