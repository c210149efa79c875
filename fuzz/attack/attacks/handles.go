package attacks

import (
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// The number of calls of a handle before its tokens are attacked again.
const (
	sealedBefore = 4200
	judgedBefore = 1100 // of good tokens, and of altered ones
)

// manyCalls attacks a handle after thousands of calls, and tokens that were used before others.
func (t trial) manyCalls(in *attack.Instance, tok *attack.Token) {
	t.worn(in, tok)
	t.afterOthers(in, tok)
}

// worn makes thousands of calls of one handle. Then it presents altered tokens, and tokens in
// other contexts and at other times.
func (t trial) worn(in *attack.Instance, tok *attack.Token) {
	t.closedHandles(tok)
	altered := lastAltered(tok)
	if altered == nil {
		t.Skip("no segment of the token is in a known encoding")
		return
	}
	if _, loose := in.Accepts(altered, tok.Under); loose {
		t.Skip("a new handle accepts an altered token, which other attacks find")
		return
	}
	var texts [][]byte
	many := min(sealedBefore, t.Budget.Seals)
	for n := 0; n < many && !t.Spent(); n += attack.BatchSize {
		for _, call := range in.Resealed(tok, min(attack.BatchSize, many-n)) {
			if call.Answer.Outcome != verdict.Done {
				return
			}
			texts = append(texts, call.Answer.Out)
		}
	}
	presented := slices.Concat(texts[:min(len(texts), judgedBefore)], slices.Repeat([][]byte{altered}, min(judgedBefore, t.Budget.Unseals)))
	for some := range slices.Chunk(presented, 100) {
		if _, err := in.UnsealBatch(some, tok.Under); err != nil {
			break
		}
	}
	if again, ok := in.Mint(t.State(24), tok.Under); ok {
		t.Changes(in, again, t.changedOnce(again, 40, 40))
		t.wornContexts(in, again)
	}
}

// wornContexts presents a token in contexts and at times that a new handle refuses.
func (t trial) wornContexts(in *attack.Instance, tok *attack.Token) {
	if !t.Design.IsScheme() {
		return
	}
	fresh, err := t.Open(t.Secret(0))
	if err != nil {
		return
	}
	for _, f := range fields.All {
		from, present := f.Get(&tok.Under)
		other := f.Put(tok.Under, f.Unrelated()[0])
		if !present || fresh.AcceptsFirst(tok, other) {
			continue
		}
		t.Refuses(f.Property, in, tok.Sealed, other, "after thousands of calls of one handle, a token minted for %s %+.40q is accepted for another one", f.Name, from)
	}
	late := attack.Later(tok.Under, 400*24*time.Hour)
	if t.Design.OwnClock || fresh.AcceptsFirst(tok, late) {
		return
	}
	t.Refuses(codecs.Expiry, in, tok.Sealed, late, "after thousands of calls of one handle, a token is accepted 400 days after it was minted")
}

// closedHandles opens two handles under each of two keys and closes one of each pair. The
// handles that stay open must still refuse each other's tokens.
func (t trial) closedHandles(tok *attack.Token) {
	if t.Design.Worker == nil {
		return // an instance in this process cannot be closed
	}
	var stay [2]*attack.Instance
	var sealed [2]verdict.Call
	for n := range stay {
		key := t.Secret(10 + n)
		first, second, ok := t.pair(key, key)
		if !ok {
			return
		}
		early := second.Seal(tok.State, tok.Under)
		if first.Close() != nil {
			return
		}
		stay[n] = second
		if call := second.Unseal(early.Answer.Out, tok.Under); early.Answer.Outcome == verdict.Done && call.Answer.Outcome == verdict.Refused {
			t.Refute(codecs.Rotation, "after another handle of its key was closed, a handle refuses its own earlier token", early, call)
		}
		if sealed[n] = second.Seal(tok.State, tok.Under); sealed[n].Answer.Outcome != verdict.Done {
			return
		}
	}
	for n, holder := range stay {
		t.Refuses(codecs.Integrity, holder, sealed[1-n], tok.Under, "after other handles were closed, a token of another key is accepted")
	}
}
