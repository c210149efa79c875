package attacks

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// showsState seals two states of the same length in random order, many times. It looks for bits
// that are constant for each state and differ between the two. A digest, a part of the state,
// or an initialization vector derived from it gives such bits. The search is repeated, so that
// chance does not accuse a design.
func (t trial) showsState(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{1, 3, 33, 100, 255, 300, attack.LongState} {
		t.tellsStates(in, under, t.State(n), t.State(n))
		t.tellsStates(in, under, t.Bytes(n), t.Bytes(n))
	}
}

// tellsStates reports a refutation if tokens tell two states apart.
func (t trial) tellsStates(in *attack.Instance, under codecs.Context, one, two []byte) {
	t.Try(codecs.Confidentiality)
	calls, where := t.tellsApart(in, [2]codecs.Context{under, under}, func(of int) []byte { return [][]byte{one, two}[of] })
	if where != "" {
		t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), fmt.Sprintf("%s is one in all tokens of a state of %d bytes, and another in all tokens of another state", where, len(one)), calls...)
	}
}

// perState is the number of tokens sealed for each of two states. A given bit tells them apart
// by chance with probability 2^-31.
const perState = 16

// tellsApart looks twice for a bit that tells tokens of one context and state from those of
// another. It returns the position of the bit, or "".
func (t trial) tellsApart(in *attack.Instance, under [2]codecs.Context, state func(of int) []byte) (calls []verdict.Call, where string) {
	calls, bits := t.bitsApart(in, under, state)
	if len(bits) == 0 {
		return nil, ""
	}
	_, again := t.bitsApart(in, under, state)
	for _, bit := range slices.Backward(bits) { // bits of single bytes come after those of sums
		if slices.Contains(again, bit) {
			return calls, placeOf(bit)
		}
	}
	return nil, ""
}

// atEnds is the number of bytes at each end of a token whose pairwise sums are examined. A
// nonce or tag of up to 32 bytes next to a value may mask it.
const atEnds = 48

// withSums returns the exclusive or of each pair of bytes at the ends of raw, followed by raw.
// The number of pairs does not depend on raw.
func withSums(raw []byte) []byte {
	ends := make([]byte, 2*atEnds)
	copy(ends, raw[:min(len(raw), atEnds)])
	if last := raw[max(0, len(raw)-atEnds):]; len(raw) > atEnds {
		copy(ends[2*atEnds-len(last):], last)
	}
	all := make([]byte, 0, atEnds*len(ends)+len(raw))
	for i, a := range ends {
		for _, b := range ends[:i] {
			all = append(all, a^b)
		}
	}
	return append(all, raw...)
}

// placeOf names a bit of the result of [withSums].
func placeOf(bit int) string {
	if at := bit/8 - atEnds*(2*atEnds-1); at >= 0 {
		return fmt.Sprintf("bit %d of byte %d", bit%8, at)
	}
	return fmt.Sprintf("the sum of bit %d of two bytes at the ends", bit%8)
}

// bitsApart seals states in two contexts, in pairs of random order. It returns one call for
// each, and the bits that are constant within each context and differ between them.
func (t trial) bitsApart(in *attack.Instance, under [2]codecs.Context, state func(of int) []byte) (calls []verdict.Call, bits []int) {
	var order []int
	var states [][]byte
	var contexts []codecs.Context
	for range perState {
		first := t.IntN(2)
		for _, of := range []int{first, 1 - first} {
			order, states, contexts = append(order, of), append(states, state(of)), append(contexts, under[of])
		}
	}
	var always, ever [2][]byte // the bits that are set in all tokens, and in any token
	for k, call := range in.SealAll(states, contexts) {
		if call.Answer.Outcome != verdict.Done {
			return nil, nil
		}
		of := order[k]
		raw := withSums(in.TokenOf(call, contexts[k]).Bytes())
		if always[of] == nil {
			calls, always[of], ever[of] = append(calls, call), slices.Clone(raw), slices.Clone(raw)
		}
		n := min(len(raw), len(always[of]))
		always[of], ever[of] = always[of][:n], ever[of][:n]
		for i := range n {
			always[of][i] &= raw[i]
			ever[of][i] |= raw[i]
		}
	}
	for bit := range 8 * min(len(always[0]), len(always[1])) {
		has := func(b []byte) bool { return b[bit/8]>>(bit%8)&1 == 1 }
		if has(always[0]) && !has(ever[1]) || has(always[1]) && !has(ever[0]) {
			bits = append(bits, bit)
		}
	}
	return calls, bits
}

// saltLengths are common lengths of salts and nonces, in bytes.
var saltLengths = []int{4, 8, 12, 16, 24, 32}

// saltedDigest looks for the beginning of a digest of the state and a salt, where the salt is
// another part of the token. It must occur at the same position in two tokens.
func saltedDigest(one, two *attack.Token) (how string, ok bool) {
	raw, other, sums := one.Bytes(), two.Bytes(), saltedSums()
	for _, n := range saltLengths {
		for at := range min(atEnds, max(0, len(raw)-n)) {
			if at+n > len(other) {
				break
			}
			for _, sum := range sums {
				digest := sum.of(raw[at:at+n], one.State)[:4]
				if k := bytes.Index(raw, digest); k >= 0 && k+4 <= len(other) && bytes.Equal(other[k:k+4], sum.of(other[at:at+n], two.State)[:4]) {
					return fmt.Sprintf("at byte %d %s, whose salt is %d bytes at %d", k, sum.name, n, at), true
				}
			}
		}
	}
	return "", false
}

// A saltedSum is a digest of a state and a salt.
type saltedSum struct {
	name string
	of   func(salt, state []byte) []byte
}

func saltedSums() (all []saltedSum) {
	for _, sum := range tokenfmt.Checksums() {
		all = append(all,
			saltedSum{sum.Name + " of a salt and the state", func(salt, state []byte) []byte { return sum.Sum(slices.Concat(salt, state)) }},
			saltedSum{sum.Name + " of the state and a salt", func(salt, state []byte) []byte { return sum.Sum(slices.Concat(state, salt)) }})
	}
	return append(all, saltedSum{tokenfmt.HMACSHA256.Name + " of the state under a salt", tokenfmt.HMACSHA256.Sum})
}
