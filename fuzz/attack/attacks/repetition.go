package attacks

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// A repetition records every aligned run of the text of tokens for one state.
type repetition struct {
	trial
	at    []int                              // positions of the runs
	seen  []map[[runLength]byte]verdict.Call // by position, the call that gave each run
	count int                                // number of tokens
}

// newRepetition finds the runs of characters that differ throughout between several tokens of
// one state. Such a run contains more than constants and times. Equal tokens count once.
func (t trial) newRepetition(in *attack.Instance, tok *attack.Token) (*repetition, bool) {
	others := [][]byte{tok.Text}
	for range 12 {
		again := in.Seal(tok.State, tok.Under).Answer.Out
		if len(again) != len(tok.Text) {
			return nil, false
		}
		if !slices.ContainsFunc(others, func(b []byte) bool { return bytes.Equal(b, again) }) {
			others = append(others, again)
		}
	}
	if len(others) == 1 {
		return nil, false
	}
	r := &repetition{trial: t}
	for at := 0; at+runLength <= len(tok.Text); at += 4 {
		if runVaries(others, at) {
			r.add(at)
		}
	}
	if last := len(tok.Text) - runLength; last >= 0 && runVaries(others, last) {
		r.add(last)
	}
	return r, len(r.at) > 0
}

func (r *repetition) add(at int) {
	r.at = append(r.at, at)
	r.seen = append(r.seen, map[[runLength]byte]verdict.Call{})
}

// runVaries reports whether the run at a position differs throughout between any two texts.
func runVaries(texts [][]byte, at int) bool {
	for i, a := range texts {
		for _, b := range texts[:i] {
			if equalPositions(a[at:at+runLength], b[at:at+runLength]) > runLength/4 {
				return false
			}
		}
	}
	return true
}

// allRuns is the number of tokens whose runs are all recorded. Later tokens have only their
// first, middle and last run recorded, to limit memory.
const allRuns = 300

// collect seals n more tokens and reports whether a run repeats.
func (r *repetition) collect(in *attack.Instance, tok *attack.Token, n int) bool {
	for k := 0; k < n; k += attack.BatchSize {
		if k > 0 && r.Spent() {
			return false
		}
		for _, call := range in.Resealed(tok, min(attack.BatchSize, n-k)) {
			if len(call.Answer.Out) != len(tok.Text) {
				return false
			}
			if r.repeated(call) {
				return true
			}
		}
	}
	return false
}

// repeated records the runs of one token and reports whether one of them occurred before.
func (r *repetition) repeated(call verdict.Call) bool {
	r.count++
	r.Try(codecs.FreshNonces, codecs.Confidentiality)
	for i, at := range r.at {
		if r.count > allRuns && i != 0 && i != len(r.at)/2 && i != len(r.at)-1 {
			continue
		}
		key := [runLength]byte(call.Answer.Out[at : at+runLength])
		earlier, ok := r.seen[i][key]
		if !ok {
			r.seen[i][key] = call
			continue
		}
		r.repeats(at, earlier, call)
		return true
	}
	return false
}

// shows returns the length in bits of the longest random nonce that repeats with a probability
// of 99% in count tokens, by the birthday bound: 2^bits = count^2 / (2 ln 100).
func (r *repetition) shows() float64 {
	return math.Floor(max(0, 2*math.Log2(float64(r.count))-math.Log2(2*math.Log(100))))
}

// repeats records a finding: two tokens share the run at a position.
func (r *repetition) repeats(at int, a, b verdict.Call) {
	issue := fmt.Sprintf("one state gave the same %d characters from character %d in two of %d tokens: a nonce repeats", runLength, at, r.count)
	shows := func(calls []verdict.Call) bool {
		if len(calls) != 2 || !bytes.Equal(calls[0].State, calls[1].State) {
			return false
		}
		x, y := calls[0].Answer.Out, calls[1].Answer.Out
		return len(x) >= at+runLength && len(y) >= at+runLength && bytes.Equal(x[at:at+runLength], y[at:at+runLength])
	}
	r.RefuteIf(codecs.FreshNonces, shows, issue, a, b)
	r.RefuteIf(codecs.Confidentiality, shows, issue, a, b)
}
