package attacks

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// A repetition records every aligned run of the varying characters of tokens for one state.
type repetition struct {
	trial
	length  int                                // of a token, in characters
	varying []int                              // positions of the text at which tokens differ
	at      []int                              // positions of the runs among the varying characters
	seen    []map[[runLength]rune]verdict.Call // by position, the call that gave each run
	count   int                                // number of tokens
}

// newRepetition finds the runs of varying characters that differ throughout between several tokens
// of one state. Such a run contains more than times. Equal tokens count once.
func (t trial) newRepetition(in *attack.Instance, tok *attack.Token) (*repetition, bool) {
	first := []rune(string(tok.Text))
	others := [][]rune{first}
	for range 12 {
		again := []rune(string(in.Seal(tok.State, tok.Under).Answer.Out))
		if len(again) != len(first) {
			return nil, false
		}
		if !slices.ContainsFunc(others, func(b []rune) bool { return slices.Equal(b, again) }) {
			others = append(others, again)
		}
	}
	if len(others) == 1 {
		return nil, false
	}
	r := &repetition{trial: t, length: len(first)}
	for at, c := range first {
		if slices.ContainsFunc(others, func(other []rune) bool { return other[at] != c }) {
			r.varying = append(r.varying, at)
		}
	}
	for at := 0; at+runLength <= len(r.varying); at += 4 {
		r.addIfVaried(others, at)
	}
	r.addIfVaried(others, len(r.varying)-runLength)
	return r, len(r.at) > 0
}

// varied returns the characters of a text without those that are equal in all tokens. It reports
// false if the text has another length.
func (r *repetition) varied(text []byte) ([]rune, bool) {
	all := []rune(string(text))
	if len(all) != r.length {
		return nil, false
	}
	varied := make([]rune, len(r.varying))
	for i, at := range r.varying {
		varied[i] = all[at]
	}
	return varied, true
}

// addIfVaried adds the run at a position if it differs throughout between any two texts.
func (r *repetition) addIfVaried(texts [][]rune, at int) {
	if at < 0 || slices.Contains(r.at, at) {
		return
	}
	for i, a := range texts {
		for _, b := range texts[:i] {
			equal := 0
			for _, place := range r.varying[at : at+runLength] {
				if a[place] == b[place] {
					equal++
				}
			}
			if equal > runLength/4 {
				return
			}
		}
	}
	r.at = append(r.at, at)
	r.seen = append(r.seen, map[[runLength]rune]verdict.Call{})
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
			varied, ok := r.varied(call.Answer.Out)
			if !ok {
				return false
			}
			if r.repeated(varied, call) {
				return true
			}
		}
	}
	return false
}

// repeated records the runs of one token and reports whether one of them occurred before.
func (r *repetition) repeated(varied []rune, call verdict.Call) bool {
	r.count++
	r.Try(nonceProperties...)
	for i, at := range r.at {
		if r.count > allRuns && i != 0 && i != len(r.at)/2 && i != len(r.at)-1 {
			continue
		}
		key := [runLength]rune(varied[at : at+runLength])
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
	issue := fmt.Sprintf("one state gave the same %d varying characters from character %d in two of %d tokens: a nonce repeats", runLength, r.varying[at], r.count)
	shows := func(calls []verdict.Call) bool {
		if len(calls) != 2 || !bytes.Equal(calls[0].State, calls[1].State) {
			return false
		}
		x, okX := r.varied(calls[0].Answer.Out)
		y, okY := r.varied(calls[1].Answer.Out)
		return okX && okY && slices.Equal(x[at:at+runLength], y[at:at+runLength])
	}
	r.RefuteEach(nonceProperties, shows, issue, a, b)
}
