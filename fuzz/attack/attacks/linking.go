package attacks

import (
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
)

// perPrincipal is the number of tokens minted for each principal. With so many, even one shared
// byte is unlikely to occur by chance.
const perPrincipal = 16

// linkable mints for two principals in random order, so that counters and times do not tell
// them apart. It looks for values that all tokens of one share and those of the other lack.
func (t trial) linkable(in *attack.Instance, tok *attack.Token) {
	if tok.Under.Principal == nil {
		t.Skip("the design does not mint for a principal")
		return
	}
	for _, c := range append([]codecs.Context{tok.Under}, fields.Reduced(tok.Under)...) {
		if c.Principal != nil && !t.Fell(codecs.Unlinkable) {
			t.linkedIn(in, c)
		}
	}
	if t.Tried(codecs.Unlinkable) == 0 {
		t.Skip("the design does not mint for other principals")
	}
}

// linkedIn is linkable in one context.
func (t trial) linkedIn(in *attack.Instance, c codecs.Context) {
	alice, bob, ok := t.mintsInTurn(in, c)
	if !ok {
		return
	}
	t.Try(codecs.Unlinkable)
	refute := func(format string, args ...any) {
		t.RefuteIf(codecs.Unlinkable, attack.Sealed(3), fmt.Sprintf(format, args...), alice[0].Sealed, alice[1].Sealed, bob[0].Sealed)
	}
	if value, ok := onlyIn(alice, bob); ok {
		refute("every token of a principal holds %.40q, and those of another do not", value)
	}
	if a, b := lengthOf(alice), lengthOf(bob); a > 0 && b > 0 && a != b {
		refute("the tokens of a principal have %d characters, and those of another, with a name of the same length, have %d", a, b)
	}
	if at, ok := placeOnlyIn(textsIn(alice), textsIn(bob)); ok {
		refute("the tokens of a principal share the character at %d, and those of another share another", at)
	}
	for _, other := range []string{"bobby-2", "carol-3", "david-4"} {
		under := [2]codecs.Context{fields.Principal.Put(c, "alice-1"), fields.Principal.Put(c, other)}
		calls, where := t.tellsApart(in, under, func(int) []byte { return t.State(24) })
		if where != "" {
			t.RefuteIf(codecs.Unlinkable, attack.Sealed(2), where+" is one in all tokens of a principal, and another in all tokens of another", calls...)
			return
		}
	}
}

// lengthOf returns the common length of all tokens, or 0 if lengths differ.
func lengthOf(toks []*attack.Token) int {
	n := len(toks[0].Text)
	if slices.ContainsFunc(toks, func(tok *attack.Token) bool { return len(tok.Text) != n }) {
		return 0
	}
	return n
}

// mintsInTurn mints tokens for two principals, in pairs of random order.
func (t trial) mintsInTurn(in *attack.Instance, c codecs.Context) (alice, bob []*attack.Token, ok bool) {
	for range perPrincipal {
		names := []string{"alice-1", "bobby-2"}
		first := t.IntN(2)
		for k := range names {
			who := (first + k) % 2
			tok, ok := in.Mint(t.State(24), fields.Principal.Put(c, names[who]))
			switch {
			case !ok:
				return nil, nil, false
			case who == 0:
				alice = append(alice, tok)
			default:
				bob = append(bob, tok)
			}
		}
	}
	return alice, bob, true
}

// onlyIn returns a value of at least 4 bytes that can be read in all tokens of as and in no
// token of bs.
func onlyIn(as, bs []*attack.Token) ([]byte, bool) {
	others, ofBs := readingsOf(as[1:]), readingsOf(bs)
	for _, v := range tokenfmt.Readings(as[0].Text) {
		holds := func(readings map[string]bool) bool { return readings[string(v)] }
		lacks := func(readings map[string]bool) bool { return !holds(readings) }
		if len(v) >= 4 && !slices.ContainsFunc(others, lacks) && !slices.ContainsFunc(ofBs, holds) {
			return v, true
		}
	}
	return nil, false
}

// readingsOf returns the set of values that can be read in each token.
func readingsOf(toks []*attack.Token) (all []map[string]bool) {
	for _, tok := range toks {
		readings := map[string]bool{}
		for _, v := range tokenfmt.Readings(tok.Text) {
			readings[string(v)] = true
		}
		all = append(all, readings)
	}
	return all
}

// textsIn returns the texts of tokens.
func textsIn(toks []*attack.Token) (texts [][]byte) {
	for _, tok := range toks {
		texts = append(texts, tok.Text)
	}
	return texts
}

// placeOnlyIn returns a place at which all of as share one byte and all of bs share another.
func placeOnlyIn(as, bs [][]byte) (int, bool) {
	agree := func(texts [][]byte, at int) bool {
		return !slices.ContainsFunc(texts, func(text []byte) bool { return at >= len(text) || text[at] != texts[0][at] })
	}
	for at := range min(len(as[0]), len(bs[0])) {
		if as[0][at] != bs[0][at] && agree(as, at) && agree(bs, at) {
			return at, true
		}
	}
	return 0, false
}
