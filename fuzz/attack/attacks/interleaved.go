package attacks

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// betweenOthers seals one state before and after other states and contexts. No token may share a
// nonce with its neighbor, and no other sealing may start a generator anew.
func (t trial) betweenOthers(search *repetition, in *attack.Instance, tok *attack.Token) bool {
	for _, seal := range slices.Repeat(t.otherSealings(in, tok.Under), 2) {
		if t.nonceOfNeighbor(in, tok, seal) || search.collect(in, tok, 1) {
			return true
		}
	}
	return false
}

// otherSealings returns calls that seal states of special lengths, and one in each other context. A
// design may refuse them.
func (t trial) otherSealings(in *attack.Instance, under codecs.Context) (all []func() verdict.Call) {
	add := func(state []byte, c codecs.Context) {
		all = append(all, func() verdict.Call { return in.SealQuietly(state, c) })
	}
	for _, n := range []int{0, 1, 16, attack.LongState, attack.LongerState} {
		add(t.Letters(n), under)
	}
	if !t.Design.IsScheme() {
		return all
	}
	for _, c := range append(fields.Reduced(under), fields.Method.Put(under, ""), fields.Method.Put(under, fields.OtherMethods[2]), codecs.Context{Now: under.Now}) {
		add(t.State(24), c)
	}
	return all
}

// nonceSightings is the number of times that a shared nonce has to be seen in a row.
const nonceSightings = 4

// nonceOfNeighbor refutes if a token that seal returns always shares a run of bytes with the token
// before or after it, and these two differ in the run.
func (t trial) nonceOfNeighbor(in *attack.Instance, tok *attack.Token, seal func() verdict.Call) bool {
	var calls []verdict.Call
	for range nonceSightings {
		calls = []verdict.Call{in.Seal(tok.State, tok.Under), seal(), in.Seal(tok.State, tok.Under)}
		t.Try(nonceProperties...)
		if !sharesNonce(in, tok, calls) {
			return false
		}
	}
	shows := func(calls []verdict.Call) bool { return len(calls) == 3 && sharesNonce(in, tok, calls) }
	t.RefuteEach(nonceProperties, shows, fmt.Sprintf("a token of a state of %d bytes and its neighbor share %d bytes in which other tokens differ: a nonce repeats", len(calls[1].State), sharedLength), calls...)
	return true
}

// sharesNonce reports whether the second of three tokens shares a run with exactly one of the others.
func sharesNonce(in *attack.Instance, tok *attack.Token, calls []verdict.Call) bool {
	var parts [3][][]byte
	for i, call := range calls {
		if call.Answer.Outcome != verdict.Done {
			return false
		}
		for _, s := range in.TokenOf(call, tok.Under).Format().Segments {
			parts[i] = append(parts[i], s.Bytes)
		}
	}
	for i := range min(len(parts[0]), len(parts[1]), len(parts[2])) {
		before, other, after := parts[0][i], parts[1][i], parts[2][i]
		if sharesRun(other, before, after) || sharesRun(other, after, before) {
			return true
		}
	}
	return false
}

// sharedLength is the length in bytes of the shortest run that is taken for a nonce. At most
// sharedByChance of its bytes may be equal in tokens of different nonces.
const (
	sharedLength   = 8
	sharedByChance = 2
)

// sharesRun reports whether a and b have a run in common, at one distance from their starts or from
// their ends, in which c differs.
func sharesRun(a, b, c []byte) bool {
	n := min(len(a), len(b), len(c))
	return sharesRunInPlace(a[:n], b[:n], c[:n]) || sharesRunInPlace(a[len(a)-n:], b[len(b)-n:], c[len(c)-n:])
}

// sharesRunInPlace is sharesRun for texts of one length.
func sharesRunInPlace(a, b, c []byte) bool {
	for from := 0; from+sharedLength <= len(a); from++ {
		to := from + sharedLength
		if bytes.Equal(a[from:to], b[from:to]) && equalPositions(a[from:to], c[from:to]) <= sharedByChance {
			return true
		}
	}
	return false
}
