package attack

import (
	"fmt"
	"math"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// perCode is how many pairs of contexts are tried for each that a digest of 16
// bits tells apart: one in fifty searches for such a digest is then in vain.
const perCode = 4

// collisions looks for two values of a field that have one short digest. As many
// tokens as contexts are made, and every token is presented in every context, a
// batch at a time: of each pair the digests meet by chance.
func collisions(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	f, ok := t.searched(p, tok)
	if !ok {
		t.skip("the subject binds no field that takes any text")
		return
	}
	side := int(math.Sqrt(float64(perCode * t.Budget.Unseals)))
	if t.Budget.Sweep > 0 {
		side = min(side, t.Budget.Sweep)
	}
	sealed := t.sealedApart(p, tok.Under, f, side)
	texts := make([][]byte, len(sealed))
	for i, c := range sealed {
		texts[i] = c.Answer.Out
	}
	for n := 0; n < side && !t.fell(codecs.Unambiguous); n++ {
		value := f.value(fmt.Sprintf("w%07d", n))
		for some := range slices.Chunk(texts, atOnce) {
			if t.spent() {
				return
			}
			t.trials[codecs.Unambiguous] += len(some)
			if call, ok := p.accepted(some, f.put(tok.Under, value)); ok {
				t.collided(f, value, sealed, call)
			}
		}
	}
}

// searched is the field whose values the search draws: who is meant comes before
// what is.
func (t *Trial) searched(p *Party, tok *Token) (field, bool) {
	for _, k := range []int{3, 1, 4, 2} {
		if _, present := fields[k].get(&tok.Under); present && t.binds(p, tok, fields[k]) {
			return fields[k], true
		}
	}
	return field{}, false
}

// sealedApart seals one state for n values of the field.
func (t *Trial) sealedApart(p *Party, under verdict.Context, f field, n int) []verdict.Call {
	var all []verdict.Call
	for k := range n {
		call := p.seal(t.state(8), f.put(under, f.value(fmt.Sprintf("v%07d", k))))
		if call.Answer.Outcome != verdict.Done {
			return all
		}
		all = append(all, call)
	}
	return all
}

// collided records that the call, in a context with value, took one of the tokens
// that were sealed for others.
func (t *Trial) collided(f field, value string, sealed []verdict.Call, call verdict.Call) {
	for _, s := range sealed {
		if string(s.Answer.Out) != string(call.Token) {
			continue
		}
		from, _ := f.get(s.Context)
		issue := fmt.Sprintf("%s %+q and %+q are taken for the same: what is compared is short enough that a search finds such a pair", f.name, from, value)
		t.refute(codecs.Unambiguous, issue, s, call)
		t.refute(f.property, issue, s, call)
	}
}
