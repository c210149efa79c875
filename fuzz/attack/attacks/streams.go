package attacks

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// window is the length in bytes of a run that two tokens share by more than chance.
const window = 16

// windows returns the runs of raw at every place, each with its first place.
func windows(raw []byte) map[[window]byte]int {
	all := map[[window]byte]int{}
	for at := len(raw) - window; at >= 0; at-- {
		all[[window]byte(raw[at:])] = at
	}
	return all
}

// overlappingStreams seals states that are one letter throughout behind a random head. Two
// tokens that share long runs, at whatever places, have key streams that overlap. Then it
// looks for blocks of one token in the next one.
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
		constant := windows(uneven.Bytes())
		for i, a := range even {
			for _, b := range even[:i] {
				t.Try(codecs.FreshNonces, codecs.Confidentiality)
				if shared := sharedRuns(a.Bytes(), b.Bytes(), constant); shared >= n/8 {
					issue := fmt.Sprintf("two tokens of states that repeat one letter share %d runs of %d bytes: their key streams overlap", shared, window)
					t.RefuteIf(codecs.FreshNonces, attack.Sealed(2), issue, b.Sealed, a.Sealed)
					t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), issue, b.Sealed, a.Sealed)
				}
			}
		}
	}
	t.chainedTokens(in, under)
}

// sharedRuns returns the number of runs that a and b have, and other tokens have not. A run
// that a has twice is no sign of a stream: equal blocks of a state give it as well.
func sharedRuns(a, b []byte, others map[[window]byte]int) int {
	count := map[[window]byte]int{}
	for at := 0; at+window <= len(a); at++ {
		count[[window]byte(a[at:])]++
	}
	known, shared := windows(b), 0
	for run, n := range count {
		_, both := known[run]
		_, common := others[run]
		if n == 1 && both && !common {
			shared++
		}
	}
	return shared
}

// chainedTokens looks for a run of bytes that each token has from the one before, at
// another place: a block of ciphertext that is the next initialization vector.
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
	t.RefuteIf(codecs.Confidentiality, attack.Sealed(2), fmt.Sprintf("each token holds %d bytes of the token before, at another place: its initialization vector is known before it is sealed", window), calls[row-2], calls[row-1])
}

// handedOn reports whether b has a run of a at another place, which is not constant.
func handedOn(a, b []byte) bool {
	known := windows(b)
	for at := 0; at+window <= len(a); at++ {
		if place, ok := known[[window]byte(a[at:])]; ok && place != at {
			return true
		}
	}
	return false
}
