package attacks

import (
	"encoding/binary"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
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
	t.sequencesOf(in, tok)
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

// mintedOrder is an irregular order of two principals, so that a counter of all tokens has several
// distances between those of one.
var mintedOrder = []int{1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0}

// sequencesOf seals tokens for two principals in an irregular order. It looks for four bytes of a token that
// have one distance to four bytes of the next token of its principal, and not of the other: a part
// of the token before, or a counter of each principal.
func (t trial) sequencesOf(in *attack.Instance, tok *attack.Token) {
	principals := [2]codecs.Context{fields.Principal.Put(tok.Under, "alice-1"), fields.Principal.Put(tok.Under, "bobby-2")}
	var sealed [2][]verdict.Call
	var raw [2][][]byte
	for _, who := range mintedOrder {
		call := in.Seal(t.State(24), principals[who])
		if call.Answer.Outcome != verdict.Done {
			return
		}
		sealed[who] = append(sealed[who], call)
		raw[who] = append(raw[who], in.TokenOf(call, principals[who]).Bytes())
	}
	t.Try(codecs.Unlinkable)
	if from, to, ok := linkIn(raw[0], raw[1]); ok {
		t.RefuteIf(codecs.Unlinkable, attack.Sealed(3), fmt.Sprintf("the bytes from %d of each token of a principal have one distance to the bytes from %d of its next one, and not to those of another principal", from, to),
			sealed[0][0], sealed[1][0], sealed[0][1])
	}
}

// linkIn returns the positions of four bytes that have one distance from each of as to the next,
// and from none of bs to the next of as.
func linkIn(as, bs [][]byte) (from, to int, ok bool) {
	shortest := len(slices.MinFunc(slices.Concat(as, bs), func(a, b []byte) int { return len(a) - len(b) }))
	distance := func(a, b []byte) uint32 {
		return binary.BigEndian.Uint32(b[to:]) - binary.BigEndian.Uint32(a[from:])
	}
	for from = 0; from+4 <= shortest; from++ {
		for to = 0; to+4 <= shortest; to++ {
			links := 0
			for k := 1; k < len(as) && distance(as[k-1], as[k]) == distance(as[0], as[1]) && distance(bs[k-1], as[k]) != distance(as[0], as[1]); k++ {
				links++
			}
			if links == len(as)-1 {
				return from, to, true
			}
		}
	}
	return 0, 0, false
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
