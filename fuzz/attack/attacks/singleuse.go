package attacks

import (
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// interveningTokens are numbers of other tokens to present between the two presentations of a
// token. A list of used tokens may have limited length.
var interveningTokens = []int{100, 1100, 4200, 10_100}

// presentedTwice presents a token twice: immediately, under other rings, in one batch, and late in
// its life.
func (t trial) presentedTwice(in *attack.Instance, tok *attack.Token) {
	if t.acceptsUsed(in, tok.Sealed, in.Unseal(tok.Text, tok.Under), tok.Under, "a token is accepted a second time") {
		return
	}
	t.underOtherRings(tok.Under)
	t.twiceElsewhere(in, tok.Under)
	t.twiceInBatch(in, tok)
	t.respelled(in, tok.Under)
	t.besideClosed(tok.Under)
	t.lateAgain(tok.Under)
	t.afterClockBack(tok.Under)
	t.afterRestart(tok.Under)
	t.outOfOrder(tok)
}

// outOfOrderTokens is the number of tokens that outOfOrder uses: more than the bits of the words by which a
// window of used numbers is marked.
const outOfOrderTokens = 140

// outOfOrder mints many tokens and presents them twice each, the newest one first. A design may mark used tokens
// by their numbers, and refuse old ones.
func (t trial) outOfOrder(tok *attack.Token) {
	in, err := t.Open(t.Secret(0))
	if err != nil {
		return
	}
	calls := in.Resealed(tok, min(outOfOrderTokens, t.Budget.Unseals))
	for i, sealed := range slices.Backward(calls) {
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		if t.acceptsUsed(in, sealed, in.Unseal(sealed.Answer.Out, tok.Under), tok.Under, "a token is accepted a second time after %d that were minted later", len(calls)-1-i) {
			return
		}
	}
}

// acceptsUsed presents a token again after a first call, and reports whether both accept it.
func (t trial) acceptsUsed(in *attack.Instance, sealed, first verdict.Call, c codecs.Context, issue string, args ...any) bool {
	t.Try(codecs.SingleUse)
	second, twice := in.Accepts(sealed.Answer.Out, c)
	if first.Answer.Outcome != verdict.Done || !twice {
		return false
	}
	t.Refute(codecs.SingleUse, fmt.Sprintf(issue, args...), sealed, first, second)
	return true
}

// usedRings are rings of keys, by number. Key 0 seals a token, which is used under the first ring
// of a row and then presented under the others.
var usedRings = [][][]int{
	{{0}, {1, 0}, {0, 1}, {2, 1, 0}, {0}},
	{{0, 1}, {0}, {1, 0}, {0, 2}, {0, 1}},
	{{1, 0}, {0}, {0, 1}, {2, 0}, {1, 0}},
}

// underOtherRings uses a token under one ring and presents it under rings with other keys, or with
// the same keys in another order. A list of used tokens must not depend on the places of keys.
func (t trial) underOtherRings(c codecs.Context) {
	for _, rings := range usedRings {
		sealed, first, ok := t.usedUnder(rings[0], c)
		if !ok {
			continue
		}
		for _, ring := range rings[1:] {
			in, err := t.Open(t.secrets(ring...)...)
			if err != nil {
				continue // the design takes one key only
			}
			if t.acceptsUsed(in, sealed, first, c, "a token that was used under a ring of the keys %d is accepted again under a ring of the keys %d", rings[0], ring) {
				return
			}
		}
	}
}

// usedUnder seals a token under key 0 and uses it under a ring. It reports false if the ring does
// not accept the token.
func (t trial) usedUnder(ring []int, c codecs.Context) (sealed, first verdict.Call, once bool) {
	from, err := t.Open(t.Secret(0))
	in, errRing := t.Open(t.secrets(ring...)...)
	if err != nil || errRing != nil {
		return sealed, first, false
	}
	sealed = from.Seal(t.State(8), c)
	first, once = in.Accepts(sealed.Answer.Out, c)
	return sealed, first, once
}

// afterClockBack presents a token, a second one after the first has expired, and the first one
// again at a time within its life. A list of used tokens may be pruned by the latest time, while
// a clock that is set right, or another host, is behind it.
func (t trial) afterClockBack(c codecs.Context) {
	in, tok, ok := t.MintFor(shortLife, c)
	if !ok || t.Design.OwnClock {
		return
	}
	first, once := in.Accepts(tok.Text, c)
	late := attack.Later(c, 2*shortLife)
	if _, pruned := in.Accepts(in.Seal(t.State(8), late).Answer.Out, late); !once || !pruned {
		return
	}
	t.acceptsUsed(in, tok.Sealed, first, attack.Later(c, time.Second), "a token is accepted a second time after another one was used %s later, and the clock was set back", 2*shortLife)
}

// besideClosed presents a token at a handle before and after another handle of the same key is
// closed. Closing one must not erase the other's list.
func (t trial) besideClosed(c codecs.Context) {
	in, other, ok := t.pair(t.Secret(0), t.Secret(0))
	if !ok {
		return
	}
	sealed := in.Seal(t.State(8), c)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	first, once := in.Accepts(sealed.Answer.Out, c)
	if !once || other.Close() != nil {
		return
	}
	t.acceptsUsed(in, sealed, first, c, "a token is accepted a second time after another handle was closed")
}

// afterRestart notes whether a new process accepts a used token again. The promise of single
// use does not mention restarts, and a worker may model a server that stores used tokens
// elsewhere.
func (t trial) afterRestart(c codecs.Context) {
	in, err := t.Open(t.Secret(0))
	if err != nil || t.Design.Restart == nil {
		return
	}
	sealed := in.Seal(t.State(8), c)
	if _, once := in.Accepts(sealed.Answer.Out, c); !once || t.Design.Restart() != nil {
		return
	}
	again, err := t.Open(t.Secret(0))
	if err != nil {
		return
	}
	if _, twice := again.Accepts(sealed.Answer.Out, c); twice {
		t.Note("a token is accepted a second time after a restart: the list of used tokens is in the memory of the process")
	}
}

// twiceElsewhere presents unusual tokens twice: of other lengths, with fewer fields, and of the
// second key of a ring.
func (t trial) twiceElsewhere(in *attack.Instance, c codecs.Context) {
	twice := func(holder *attack.Instance, state []byte, c codecs.Context, how string) {
		sealed := in.Seal(state, c)
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		t.acceptsUsed(holder, sealed, holder.Unseal(sealed.Answer.Out, c), c, "a token %s is accepted a second time", how)
	}
	for _, n := range []int{0, 1, 300, attack.LongState, attack.LongerState} {
		twice(in, t.Letters(n), c, fmt.Sprintf("of a state of %d letters", n))
		twice(in, t.State(n), c, fmt.Sprintf("of a JSON text with %d letters", n))
	}
	for _, less := range fields.Reduced(c) {
		twice(in, t.State(8), less, "of the context "+fields.Describe(less))
	}
	for _, m := range fields.OtherMethods {
		twice(in, t.State(8), fields.Method.Put(c, m), "of the method "+m)
	}
	if ring, err := t.Open(t.Secret(1), t.Secret(0)); err == nil {
		twice(ring, t.State(8), c, "of the second key of a ring")
	}
	t.onceInEachContext(in, c)
}

// onceInEachContext presents tokens in their own context and then in another. A design that
// does not bind every field may accept both.
func (t trial) onceInEachContext(in *attack.Instance, c codecs.Context) {
	for _, f := range fields.All {
		sealed := in.Seal(t.State(8), c)
		if sealed.Answer.Outcome != verdict.Done {
			return
		}
		other := f.Put(c, f.Unrelated()[0])
		t.acceptsUsed(in, sealed, in.Unseal(sealed.Answer.Out, c), other, "a token is accepted a second time with another %s", f.Name)
	}
}

func (t trial) twiceInBatch(in *attack.Instance, tok *attack.Token) {
	tok, ok := in.Mint(t.State(24), tok.Under)
	if !ok {
		return
	}
	answers, err := in.UnsealBatch([][]byte{tok.Text, tok.Text}, tok.Under)
	if err == nil && answers[0].Err == nil && answers[1].Err == nil {
		t.RefuteIf(codecs.SingleUse, attack.Sealed(1), "a token that occurs twice in a batch is accepted twice", tok.Sealed)
	}
}

// respelled presents a token in its own spelling and then in others. A list of used texts does
// not recognize those.
func (t trial) respelled(in *attack.Instance, c codecs.Context) {
	for _, spellings := range []generator{tokenfmt.Padding, tokenfmt.UnusedBits, tokenfmt.LetterCase, tokenfmt.WhiteSpace, tokenfmt.TrailingData,
		tokenfmt.OtherAlphabet, tokenfmt.OtherSerialization} {
		tok, ok := in.Mint(t.State(8), c)
		if !ok {
			return
		}
		tok = t.inOneAlphabet(in, tok)
		first, once := in.Accepts(tok.Text, c)
		for other := range tokenfmt.Each(spellings, tok.Format(), t.Source) {
			t.Try(codecs.SingleUse)
			if second, twice := in.Accepts(other.Text, c); once && twice {
				t.Refute(codecs.SingleUse, "a token is accepted a second time in another spelling: "+other.How, tok.Sealed, first, second)
				return
			}
		}
	}
}

// lateAgain presents a token immediately and again at later times within its life. Before each, it
// mints a token, because a list of used tokens may be pruned then. Tokens that earlier attacks used
// at later times may keep the list from being pruned, so a process starts anew.
func (t trial) lateAgain(c codecs.Context) {
	if t.Design.OwnClock || t.Design.Restart != nil && t.Design.Restart() != nil {
		return
	}
	for _, ttl := range []time.Duration{shortLife, 24 * time.Hour} {
		t.lateAgainIn(c, ttl)
	}
}

func (t trial) lateAgainIn(c codecs.Context, ttl time.Duration) {
	in, err := t.OpenFor(&ttl, t.Secret(0))
	if err != nil {
		return
	}
	sealed := in.Seal(t.State(8), c)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	first := in.Unseal(sealed.Answer.Out, c)
	for _, d := range []time.Duration{ttl / 4, ttl * 3 / 4, ttl * 19 / 20} {
		in.Seal(t.State(8), attack.Later(c, d))
		t.acceptsUsed(in, sealed, first, attack.Later(c, d), "a token with a time to live of %s is accepted a second time after %s", ttl, d)
	}
}

// afterOthers presents a few tokens, many others, and then the first ones again, each after as
// many others as a list may hold. It leaves out a design that accepts a token twice in a row.
func (t trial) afterOthers(in *attack.Instance, tok *attack.Token) {
	in.Accepts(tok.Text, tok.Under)
	if _, twice := in.Accepts(tok.Text, tok.Under); twice || !t.Design.IsScheme() {
		return
	}
	var sealed, first []verdict.Call
	for range interveningTokens {
		call := in.Seal(tok.State, tok.Under)
		opened, once := in.Accepts(call.Answer.Out, tok.Under)
		if !once {
			return
		}
		sealed, first = append(sealed, call), append(first, opened)
	}
	others := 0
	for i, most := range interveningTokens {
		for most = min(most, t.Budget.Unseals); others < most; {
			if t.Spent() {
				return
			}
			n := min(attack.BatchSize, most-others)
			t.spend(in, tok, n)
			others += n
		}
		if t.acceptsUsed(in, sealed[i], first[i], tok.Under, "a token is accepted a second time after %d others", most) {
			return
		}
	}
}

// spend seals and presents n tokens.
func (t trial) spend(in *attack.Instance, tok *attack.Token, n int) {
	for _, call := range in.Resealed(tok, n) {
		in.Accepts(call.Answer.Out, tok.Under)
	}
}
