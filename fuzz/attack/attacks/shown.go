package attacks

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// showsState seals two states of one length in turn, again and again, and looks for bits
// that are one for all tokens of a state and tell it from the other. A digest, a part of
// the state and an initialization vector made from it give such bits. The search is made
// again, so that chance does not accuse.
func (t trial) showsState(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{1, 3, 33, 100, 255, 300, longState} {
		t.tellsApart(in, under, t.State(n), t.State(n))
		t.tellsApart(in, under, t.Bytes(n), t.Bytes(n))
	}
}

// perState is the number of tokens that are sealed for each of two states. A bit tells them
// apart by chance once in 2^31 places.
const perState = 16

// tellsApart refutes if one bit of tokens tells two states apart, twice.
func (t trial) tellsApart(in *attack.Instance, under codecs.Context, one, two []byte) {
	t.Try(codecs.Confidentiality)
	calls, bits := t.bitsApart(in, under, one, two)
	if len(bits) == 0 {
		return
	}
	_, again := t.bitsApart(in, under, one, two)
	for _, bit := range bits {
		if slices.Contains(again, bit) {
			t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), fmt.Sprintf("bit %d of byte %d is one in all tokens of a state of %d bytes, and another in all tokens of another state", bit%8, bit/8, len(one)), calls...)
			return
		}
	}
}

// bitsApart seals two states in pairs of random order. It returns two of the calls, and the
// bits that are one for each state and differ.
func (t trial) bitsApart(in *attack.Instance, under codecs.Context, one, two []byte) (calls []verdict.Call, bits []int) {
	states := make([][]byte, 0, 2*perState)
	for range perState {
		if t.IntN(2) == 0 {
			states = append(states, one, two)
		} else {
			states = append(states, two, one)
		}
	}
	var all, any [2][]byte // the bits that all tokens of a state have, and that some have
	for _, call := range in.SealAll(states, slices.Repeat([]codecs.Context{under}, len(states))) {
		if call.Answer.Outcome != verdict.Done {
			return nil, nil
		}
		of := 0
		if string(call.State) == string(two) {
			of = 1
		}
		raw := in.TokenOf(call, under).Bytes()
		if all[of] == nil {
			calls, all[of], any[of] = append(calls, call), slices.Clone(raw), slices.Clone(raw)
		}
		n := min(len(raw), len(all[of]))
		all[of], any[of] = all[of][:n], any[of][:n]
		for i := range n {
			all[of][i] &= raw[i]
			any[of][i] |= raw[i]
		}
	}
	for bit := range 8 * min(len(all[0]), len(all[1])) {
		has := func(b []byte) bool { return b[bit/8]>>(bit%8)&1 == 1 }
		if has(all[0]) && !has(any[1]) || has(all[1]) && !has(any[0]) {
			bits = append(bits, bit)
		}
	}
	return calls, bits
}
