package attacks

import (
	"bytes"
	"fmt"
	"iter"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// windowLength is the length in bytes of a run that two tokens are unlikely to share by chance.
const windowLength = 16

// windowPositions returns all runs of raw, with the first position of each.
func windowPositions(raw []byte) map[[windowLength]byte]int {
	all := map[[windowLength]byte]int{}
	for at := len(raw) - windowLength; at >= 0; at-- {
		all[[windowLength]byte(raw[at:])] = at
	}
	return all
}

// overlappingStreams seals states that repeat one letter after a random head. If two tokens
// share many runs, at any positions, their key streams overlap.
func (t trial) overlappingStreams(in *attack.Instance, under codecs.Context) {
	for _, n := range []int{1500, 8 << 10} {
		var even [3]*attack.Token
		for i := range even {
			var ok bool
			if even[i], ok = in.Mint(fmt.Appendf(nil, `{"step":"%s%s"}`, t.Letters(16), bytes.Repeat([]byte("a"), n)), under); !ok {
				return
			}
		}
		uneven, ok := in.Mint(t.State(n+16), under)
		if !ok {
			return
		}
		constant := windowPositions(uneven.Bytes())
		for i, a := range even {
			for _, b := range even[:i] {
				t.Try(nonceProperties...)
				if shared := sharedRuns(a.Bytes(), b.Bytes(), constant); shared >= n/8 {
					t.RefuteEach(nonceProperties, attack.Sealed(2), fmt.Sprintf("two tokens of states that repeat one letter share %d runs of %d bytes: their key streams overlap", shared, windowLength), b.Sealed, a.Sealed)
				}
			}
		}
	}
	t.chainedTokens(in, under)
	t.oneStreamTwice(in, under)
}

// sharedRuns returns the number of runs that a and b have in common and that others lack. A run
// that occurs twice in a does not count, because equal blocks of a state cause it too.
func sharedRuns(a, b []byte, others map[[windowLength]byte]int) int {
	count := map[[windowLength]byte]int{}
	for at := 0; at+windowLength <= len(a); at++ {
		count[[windowLength]byte(a[at:])]++
	}
	known, shared := windowPositions(b), 0
	for run, n := range count {
		_, both := known[run]
		if _, common := others[run]; n == 1 && both && !common {
			shared++
		}
	}
	return shared
}

// chainedTokens looks for a run of bytes that each token repeats from the previous one at
// another position. This happens if a block of ciphertext is the next initialization vector.
func (t trial) chainedTokens(in *attack.Instance, under codecs.Context) {
	const row = 6
	var raws [][]byte
	var calls []verdict.Call
	for range row {
		sealed := in.Seal(t.State(24), under)
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		calls = append(calls, sealed)
		raws = append(raws, in.TokenOf(sealed, under).Bytes())
	}
	t.Try(codecs.Confidentiality)
	for i := 1; i < row; i++ {
		if !handedOn(raws[i-1], raws[i]) || i > 1 && handedOn(raws[i-2], raws[i]) {
			return
		}
	}
	t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), fmt.Sprintf("each token holds %d bytes of the token before, at another place: its "+
		"initialization vector is known before it is sealed", windowLength), calls[row-2], calls[row-1])
}

// handedOn reports whether b contains a run of a at another position.
func handedOn(a, b []byte) bool {
	known := windowPositions(b)
	for at := 0; at+windowLength <= len(a); at++ {
		if place, ok := known[[windowLength]byte(a[at:])]; ok && place != at {
			return true
		}
	}
	return false
}

// oneStreamTwice looks for two parts of one token under the same key stream, for example claims
// and state that are both sealed under the nonce of the token. The sum of the parts is then
// constant for one state and changes with the state.
func (t trial) oneStreamTwice(in *attack.Instance, under codecs.Context) {
	one, two := t.State(64), t.State(64)
	calls := in.Seals(under, [][]byte{one, one, two})
	if len(calls) < 3 {
		return
	}
	var raws [3][]byte
	for k, call := range calls {
		raws[k] = in.TokenOf(call, under).Bytes()
	}
	if len(raws[0]) != len(raws[1]) || len(raws[0]) != len(raws[2]) || bytes.Equal(raws[0], raws[1]) {
		return
	}
	t.Try(nonceProperties...)
	changed := tokenfmt.Xor(one, two)
	for d := windowLength; d+windowLength <= len(raws[0]); d++ {
		sums := [3][]byte{}
		for k, raw := range raws {
			sums[k] = tokenfmt.Xor(raw, raw[d:])
		}
		for _, at := range runsOf(sums[0], sums[1]) {
			if holdsPart(tokenfmt.Xor(sums[0], sums[2])[at[0]:at[1]], changed) {
				t.RefuteEach(nonceProperties, attack.Sealed(3), fmt.Sprintf("the sum of the bytes from %d and from %d of a token is one for tokens of one state, and changes as the state does: they are under one key stream", at[0], at[0]+d), calls...)
				return
			}
		}
	}
}

// runsOf returns the runs of at least [windowLength] bytes that a and b share at the same position.
func runsOf(a, b []byte) (all [][2]int) {
	from := 0
	for i := 0; i <= len(a); i++ {
		if i < len(a) && a[i] == b[i] {
			continue
		}
		if i-from >= windowLength {
			all = append(all, [2]int{from, i})
		}
		from = i + 1
	}
	return all
}

// holdsPart reports whether raw contains a run, too long for chance, of changed or of the sum
// of two parts of changed.
func holdsPart(raw, changed []byte) bool {
	const part = 12
	for shift := range len(changed) - part {
		sum := changed
		if shift > 0 {
			sum = tokenfmt.Xor(changed, changed[shift:])
		}
		for some := range windowsOf(sum, part) {
			if bytes.Count(some, []byte{0}) <= part/3 && bytes.Contains(raw, some) {
				return true
			}
		}
	}
	return false
}

// windowsOf yields every run of n bytes of raw.
func windowsOf(raw []byte, n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for at := 0; at+n <= len(raw); at++ {
			if !yield(raw[at : at+n]) {
				return
			}
		}
	}
}

// streamsOfEveryLength seals two states of every length and checks whether they share a key
// stream. It leaves out states with few letters, whose difference may occur by chance.
func (t trial) streamsOfEveryLength(in *attack.Instance, under codecs.Context) {
	const letters = 8
	ones, twos := in.Seals(under, t.SweptStates()), in.Seals(under, t.SweptStates())
	for k := range min(len(ones), len(twos)) {
		if len(ones[k].State) != len(twos[k].State) {
			return // the design seals only some of the states
		}
		if len(ones[k].State) < len(t.State(letters)) {
			continue
		}
		t.Try(nonceProperties...)
		if a, b := in.TokenOf(ones[k], under), in.TokenOf(twos[k], under); sameStream(a, b) {
			t.oneStream(in, under, a.State, b.State)
		}
	}
}
