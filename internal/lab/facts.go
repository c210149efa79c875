package lab

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"time"

	"sealab/codecs"
)

// Facts are the limits and properties, beside the guarantees, that help a user choose a design.
type Facts struct {
	// NonceBits is the length in bits of the random nonce, which must not repeat under one key. It is 0 if
	// the design has no nonce.
	NonceBits int
	// Log2Tokens and Log2Bytes are the base-2 logarithms of the number of tokens and of payload bytes that
	// one key may seal. 0 means no such limit.
	Log2Tokens, Log2Bytes float64
	// Source names the source of the limits.
	Source string
	// ForgeryBits is the negated base-2 logarithm of the probability that one forged token of one block is
	// accepted. It is 0 if that depends on computation, as for signatures. ForgeryPerBlock says that the
	// probability grows with the number of 16-byte blocks, as for a polynomial tag.
	ForgeryBits     float64
	ForgeryPerBlock bool

	// Approved names the NIST publications that approve the design's algorithms. It is "" unless all of
	// them are approved.
	Approved string
	// Quantum describes how a quantum computer breaks a guarantee. It is "" if key search is the best
	// known attack.
	Quantum string
	// Use is the Go expression that opens the design, starting with its package name.
	Use string
	// Languages lists the languages, besides Go, in which a program of this repository reads the design's
	// vectors.
	Languages []string
}

// collisionRisk is the base-2 logarithm of the probability at which a key is used up.
const collisionRisk = -32

// BirthdayTokens returns the base-2 logarithm of the number of random nonces of the given length that
// collide with probability at most 2^risk. With n nonces the probability is below n^2 / 2^(bits+1)
// (birthday bound).
func BirthdayTokens(bits int, risk float64) float64 { return (float64(bits) + 1 + risk) / 2 }

// TagGuesses returns the base-2 logarithm of the number of guesses of a tag that succeed with total
// probability at most 2^risk. Each guess succeeds with probability 2^-bits (union bound).
func TagGuesses(bits, risk float64) float64 { return bits + risk }

// TokensPerKey returns the base-2 logarithm of the number of tokens with payloads of the given size that
// one key may seal. It is +Inf if there is no limit. A limit in bytes counts whole blocks of 16 bytes.
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

// Log2Forgeries returns the base-2 logarithm of the number of forged tokens that may be presented under
// one key before one is accepted with probability 2^collisionRisk. The tokens have payloads of the given
// size. The result is +Inf if ForgeryBits is 0.
//
// For GCM and Poly1305 the source is draft-irtf-cfrg-aead-limits, section 6, with 2^-127 and 2^-103 per
// block and guess. POLYVAL takes the bound of GCM, because RFC 8452, section 9, says only that the
// advantage is linear in the guesses. Other tags are guessed at random. Two blocks are added: one for the
// lengths, one for the prefix and key ID.
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

// TokenLength seals a payload of n bytes and returns the length of the token in bytes. A scheme's payload
// is a JSON string, so it has at least 2 bytes.
func TokenLength(d codecs.Design, n int) (int, error) {
	payload := bytes.Repeat([]byte("x"), n)
	if d.IsScheme() {
		payload = fmt.Appendf(nil, "%q", payload[min(n, 2):])
	}
	token, err := Sample(d, payload)
	return len(token), err
}

// Sample returns a token of the payload under a public key and a fixed request. The token is the same each
// time if the design can be seeded.
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
