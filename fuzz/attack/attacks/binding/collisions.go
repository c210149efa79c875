package binding

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// perCode is the number of pairs of contexts for each value of a 16-bit digest. With it, one
// search in fifty for such a digest fails.
const perCode = 4

// sealsPerUnseal is the number of tokens to seal, as a multiple of Budget.Unseals. With the default
// budget, a deterministic design with a 32-bit digest then shows a collision in seven searches
// of eight.
const sealsPerUnseal = 2

// collisions searches for two values of a field that have the same short digest. A
// deterministic design then gives the same token for both. For other designs, it makes as many
// tokens as contexts and presents every token in every context, so that the digests of some
// pair collide by chance.
func (t trial) collisions(in *attack.Instance, tok *attack.Token) {
	f, ok := t.searched(in, tok)
	if !ok {
		t.Skip("the design binds no field that takes any text")
		return
	}
	if in.Deterministic(tok) && !t.Design.OwnClock {
		t.oneToken(in, tok, f)
		return
	}
	side := int(math.Sqrt(float64(perCode * t.Budget.Unseals)))
	if t.Budget.Sweep > 0 {
		side = min(side, t.Budget.Sweep)
	}
	sealed := t.sealedApart(in, tok.Under, f, side)
	texts := attack.TextsOf(sealed)
	for n := 0; n < side && !t.Fell(codecs.Unambiguous); n++ {
		value := f.Value(fmt.Sprintf("w%07d", n))
		for some := range slices.Chunk(texts, 128) {
			if t.Spent() {
				t.Note("%d tokens in %d contexts of %d, until the time was over", len(texts), n, side)
				return
			}
			t.TryTimes(len(some), codecs.Unambiguous)
			if call, ok := in.FirstAccepted(some, f.Put(tok.Under, value)); ok {
				t.collided(f, value, sealed, call)
			}
		}
	}
}

// oneToken seals one state for many values of the field. If a token occurs twice, it is
// presented in both contexts.
func (t trial) oneToken(in *attack.Instance, tok *attack.Token, f fields.Field) {
	seen := map[[16]byte]int{}
	state := t.State(8)
	all := sealsPerUnseal * t.Budget.Unseals
	for from := 0; from < all && !t.Spent(); from += attack.BatchSize {
		states, contexts := slices.Repeat([][]byte{state}, attack.BatchSize), make([]codecs.Context, attack.BatchSize)
		for k := range contexts {
			contexts[k] = f.Put(tok.Under, f.Value(fmt.Sprintf("v%07d", from+k)))
		}
		for k, call := range in.SealAll(states, contexts) {
			if call.Answer.Outcome != verdict.Done {
				return
			}
			t.Try(codecs.Unambiguous)
			whole := sha256.Sum256(call.Answer.Out)
			sum := [16]byte(whole[:])
			if first, ok := seen[sum]; ok {
				again := f.Put(tok.Under, f.Value(fmt.Sprintf("v%07d", first)))
				if accepted, ok := in.Accepts(call.Answer.Out, again); ok {
					t.collided(f, f.Value(fmt.Sprintf("v%07d", first)), []verdict.Call{call}, accepted)
					return
				}
			}
			seen[sum] = from + k
		}
	}
}

// searched returns the first field that is bound, in the order principal, target, audience,
// arguments.
func (t trial) searched(in *attack.Instance, tok *attack.Token) (fields.Field, bool) {
	for _, f := range []fields.Field{fields.Principal, fields.Target, fields.Audience, fields.Arguments} {
		if _, present := f.Get(&tok.Under); present && f.Binds(in, tok) {
			return f, true
		}
	}
	return fields.Field{}, false
}

// sealedApart seals a state for each of n values of the field.
func (t trial) sealedApart(in *attack.Instance, under codecs.Context, f fields.Field, n int) []verdict.Call {
	states, contexts := make([][]byte, n), make([]codecs.Context, n)
	for k := range n {
		states[k], contexts[k] = t.State(8), f.Put(under, f.Value(fmt.Sprintf("v%07d", k)))
	}
	all := in.SealAll(states, contexts)
	if k := slices.IndexFunc(all, func(c verdict.Call) bool { return c.Answer.Outcome != verdict.Done }); k >= 0 {
		all = all[:k]
	}
	return all
}

// collided records that call, in a context with value, accepted one of the tokens sealed for
// other values.
func (t trial) collided(f fields.Field, value string, sealed []verdict.Call, call verdict.Call) {
	for _, s := range sealed {
		if string(s.Answer.Out) != string(call.Token) {
			continue
		}
		from, _ := f.Get(s.Context.Codecs())
		issue := fmt.Sprintf("%s %+q and %+q are treated as the same: their digest is short enough that a search finds such a pair", f.Name, from, value)
		t.RefuteEach(confusedBy(f), attack.Accepted, issue, s, call)
	}
}
