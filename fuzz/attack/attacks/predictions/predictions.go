// Package predictions holds the attack by tokens that the attacker has not seen: it extrapolates
// sequences of texts, and counts the bits in which tokens differ.
package predictions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// Attacks are the attacks of this package.
var Attacks = []attack.Attack{
	{ID: "TAG-15", Name: "the next token, predicted or guessed", Refutes: []codecs.Property{codecs.Integrity}, Layer: attack.LayerOracle, CWE: 340,
		Gain:   "the state of another user, under a token that the attacker never received",
		Origin: "names of stored states that count: OWASP Session Management Cheat Sheet, session ID entropy", Run: nextToken},
}

// observedTokens is the number of tokens from which the next one is predicted.
const observedTokens = 6

// nextToken seals several states, extrapolates the sequence of their tokens, and seals one
// more. If that token was predicted, an attacker can present a token that was never given to
// it.
func nextToken(t *attack.T) {
	in, tok, ok := t.Base()
	if !ok {
		return
	}
	guessable(t, in, tok)
	briefTokens(t, in, tok)
	var texts []string
	for range observedTokens {
		texts = append(texts, string(in.Seal(t.State(24), tok.Under).Answer.Out))
	}
	predicted := append(continueTexts(texts), hashedNumbers(texts, tok.Under.Now)...)
	sealed := in.Seal(t.State(24), tok.Under)
	t.Try(codecs.Integrity)
	if sealed.Answer.Outcome != verdict.Done || !slices.Contains(predicted, string(sealed.Answer.Out)) {
		return
	}
	if call, ok := in.Accepts(sealed.Answer.Out, tok.Under); ok {
		t.Refute(codecs.Integrity, "the text of a token follows from those of earlier tokens: it can be presented by a client that was never given it", sealed, call)
	}
}

// A token can be guessed if the texts of several tokens differ in fewer than guessedBits bits.
// Session IDs have 64 bits or more.
const (
	guessedBits   = 32
	guessedTokens = 32
)

// guessable seals several states and counts the bits in which their tokens differ. Only names
// of stored states differ in few bits: a tag alone has more.
func guessable(t *attack.T, in *attack.Instance, tok *attack.Token) {
	var sealed []verdict.Call
	for range guessedTokens {
		sealed = append(sealed, in.Seal(t.State(24), tok.Under))
	}
	t.Try(codecs.Integrity)
	shows := func(calls []verdict.Call) bool {
		return len(calls) == guessedTokens && differingBits(calls) < guessedBits
	}
	if shows(sealed) {
		t.RefuteIf(codecs.Integrity, shows, fmt.Sprintf("%d tokens differ in %.0f bits: a client can guess one that it was never given", guessedTokens, differingBits(sealed)), sealed...)
	}
}

// minTokenLength is the number of characters below which a token has no room for a tag, or for an
// unguessable name.
const minTokenLength = 8

// briefTokens seals states of lengths for which a design may have a separate branch, and looks
// for a token that is short enough to be guessed.
func briefTokens(t *attack.T, in *attack.Instance, tok *attack.Token) {
	shows := func(calls []verdict.Call) bool {
		return attack.Sealed(1)(calls) && len(calls[0].Answer.Out) < minTokenLength
	}
	for _, n := range []int{0, 1, 2, 16, 300} {
		call := in.Seal(t.Letters(n), tok.Under)
		if t.Try(codecs.Integrity); shows([]verdict.Call{call}) {
			t.RefuteIf(codecs.Integrity, shows, fmt.Sprintf("the token of a state of %d letters has %d characters: a client can guess one that it was never given", n, len(call.Answer.Out)), call)
			return
		}
	}
}

// differingBits returns the number of bits in which tokens differ. It sums the logarithms of
// the numbers of different characters at each position, which is an upper bound. The result is
// infinite if lengths differ or a call failed.
func differingBits(calls []verdict.Call) (bits float64) {
	first := calls[0].Answer.Out
	for at := range first {
		seen := map[byte]bool{}
		for _, c := range calls {
			if c.Answer.Outcome != verdict.Done || len(c.Answer.Out) != len(first) {
				return math.Inf(1)
			}
			seen[c.Answer.Out[at]] = true
		}
		bits += math.Log2(float64(len(seen)))
	}
	return bits
}

// A numberHash hashes a number in a certain encoding.
type numberHash func(n int64) []byte

// numberHashes are MD5, SHA-1 and SHA-256 of decimal, hexadecimal and binary encodings.
var numberHashes = func() (all []numberHash) {
	for _, form := range []func(int64) []byte{
		func(n int64) []byte { return strconv.AppendInt(nil, n, 10) }, func(n int64) []byte { return strconv.AppendInt(nil, n, 16) },
		func(n int64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }, func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) },
		func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) },
	} {
		all = append(all, func(n int64) []byte { h := md5.Sum(form(n)); return h[:] }, func(n int64) []byte { h := sha1.Sum(form(n)); return h[:] },
			func(n int64) []byte { h := sha256.Sum256(form(n)); return h[:] })
	}
	return all
}()

// named maps the first bytes of the hash of each number to the number.
func (h numberHash) named(numbers []int64) map[string]int64 {
	all := make(map[string]int64, len(numbers))
	for _, n := range numbers {
		all[string(h(n)[:hashHead])] = n
	}
	return all
}

// smallNumbers maps hashes to the numbers with which counters begin, one map for each hash.
var smallNumbers = sync.OnceValue(func() (all []map[string]int64) {
	numbers := make([]int64, 20_000)
	for n := range numbers {
		numbers[n] = int64(n)
	}
	for _, h := range numberHashes {
		all = append(all, h.named(numbers))
	}
	return all
})

// hashedNumbers returns the texts that follow if the texts are hashes of an arithmetic
// progression. It knows small numbers and times near now.
func hashedNumbers(texts []string, now time.Time) []string {
	var near []int64
	for d := int64(-8); d < 64; d++ {
		near = append(near, now.Unix()+d, now.UnixMilli()+d)
	}
	var next []string
	for i, h := range numberHashes {
		small, times := smallNumbers()[i], h.named(near)
		number := func(head string) (int64, bool) {
			n, ok := times[head]
			if !ok {
				n, ok = small[head]
			}
			return n, ok
		}
		for _, e := range tokenfmt.Encodings {
			if text, ok := hashedNext(texts, number, e, h); ok {
				next = append(next, text)
			}
		}
	}
	return next
}

// hashHead is the number of leading bytes by which a hash is looked up.
const hashHead = 6

// hashedNext extrapolates texts that end in hashes of numbers, truncated to any length.
func hashedNext(texts []string, number func(head string) (int64, bool), e tokenfmt.Encoding, hash numberHash) (string, bool) {
	at := strings.LastIndexAny(texts[0], ".:-") + 1
	var row []int64
	for _, text := range texts {
		if len(text) <= at {
			return "", false
		}
		raw, err := e.Decode(text[at:])
		if err != nil || len(raw) < hashHead {
			return "", false
		}
		n, ok := number(string(raw[:hashHead]))
		if !ok {
			return "", false
		}
		row = append(row, n)
	}
	last := len(row) - 1
	n := 2*row[last] - row[last-1]
	raw, _ := e.Decode(texts[0][at:]) // decoded above
	return texts[0][:at] + e.Encode(hash(n)[:min(len(raw), len(hash(n)))]), true
}

// A numbering reads the end of a token as a number below a modulus, and writes a number in the
// same width.
type numbering struct {
	read  func(text string) (n, modulus *big.Int, ok bool)
	write func(n *big.Int, like string) string
}

// knownNumberings returns decimal digits, and big-endian and little-endian bytes in hexadecimal and
// base64.
func knownNumberings() []numbering {
	all := []numbering{{
		read: func(text string) (n, modulus *big.Int, ok bool) {
			n, ok = new(big.Int).SetString(text, 10)
			return n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(text))), nil), ok
		},
		write: func(n *big.Int, like string) string {
			return strings.Repeat("0", max(0, len(like)-len(n.String()))) + n.String()
		},
	}}
	for _, code := range []struct {
		decode func(string) ([]byte, error)
		encode func([]byte) string
	}{
		{hex.DecodeString, hex.EncodeToString},
		{base64.RawURLEncoding.DecodeString, base64.RawURLEncoding.EncodeToString},
		{base64.StdEncoding.DecodeString, base64.StdEncoding.EncodeToString},
	} {
		for _, little := range []bool{false, true} {
			ordered := func(raw []byte) []byte {
				if little {
					slices.Reverse(raw)
				}
				return raw
			}
			all = append(all, numbering{
				read: func(text string) (n, modulus *big.Int, ok bool) {
					raw, err := code.decode(text)
					return new(big.Int).SetBytes(ordered(raw)), new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))), err == nil && len(raw) > 0
				},
				write: func(n *big.Int, like string) string {
					raw, _ := code.decode(like) // decoded above
					return code.encode(ordered(n.FillBytes(raw)))
				},
			})
		}
	}
	return all
}

// continueTexts returns the texts that follow if the ends of the texts, after the last separator,
// form an arithmetic progression.
func continueTexts(texts []string) []string {
	var next []string
	for _, border := range []string{".", ":", "-", "_", "~", "|", "/", "=", ""} {
		at := 0
		if border != "" {
			at = strings.LastIndex(texts[0], border) + 1
		}
		head := texts[0][:at]
		if slices.ContainsFunc(texts, func(s string) bool { return len(s) != len(texts[0]) || !strings.HasPrefix(s, head) }) {
			continue
		}
		for _, form := range knownNumberings() {
			if tail, ok := form.continued(texts, at); ok {
				next = append(next, head+tail)
			}
		}
	}
	return next
}

// continued extrapolates the numbers that begin at a position of the texts.
func (form numbering) continued(texts []string, at int) (string, bool) {
	var last, step *big.Int
	var modulus *big.Int
	for _, text := range texts {
		n, m, ok := form.read(text[at:])
		if !ok {
			return "", false
		}
		if last != nil {
			d := new(big.Int).Sub(n, last)
			d.Mod(d, m)
			if step != nil && d.Cmp(step) != 0 || d.Sign() == 0 {
				return "", false
			}
			step = d
		}
		last, modulus = n, m
	}
	last.Add(last, step)
	return form.write(last.Mod(last, modulus), texts[0][at:]), true
}
