package attack

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// perPrincipal is the number of tokens that are minted for each principal.
const perPrincipal = 6

// linkable mints for two principals and looks for values that all tokens of one
// have in common and those of the other do not.
func linkable(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if tok.Under.Principal == nil {
		t.skip("the subject mints for no principal")
		return
	}
	alice, okA := t.mintsFor(p, tok.Under, "alice-1")
	bob, okB := t.mintsFor(p, tok.Under, "bobby-2")
	if !okA || !okB {
		t.skip("the subject does not mint for other principals")
		return
	}
	t.try(codecs.Unlinkable)
	if value, ok := onlyIn(alice, bob); ok {
		t.refute(codecs.Unlinkable, fmt.Sprintf("every token of a principal holds %.40q, and none of another does", value), alice[0].Sealed, alice[1].Sealed, bob[0].Sealed)
	}
	if at, ok := placeOnlyIn(textsOf(alice), textsOf(bob), 5); ok {
		t.refute(codecs.Unlinkable, fmt.Sprintf("the tokens of a principal have the 5 characters from %d in common, and those of another have others", at), alice[0].Sealed, alice[1].Sealed, bob[0].Sealed)
	}
	if at, ok := placeOnlyIn(rawsOf(alice), rawsOf(bob), 4); ok {
		t.refute(codecs.Unlinkable, fmt.Sprintf("the tokens of a principal have the 4 bytes from byte %d in common, and those of another have others", at), alice[0].Sealed, alice[1].Sealed, bob[0].Sealed)
	}
}

func (t *Trial) mintsFor(p *Party, c verdict.Context, principal string) ([]*Token, bool) {
	c = with(c, func(c *verdict.Context) { c.Principal = &principal })
	var all []*Token
	for range perPrincipal {
		tok, ok := p.mint(t.state(24), c)
		if !ok {
			return nil, false
		}
		all = append(all, tok)
	}
	return all, true
}

// onlyIn finds a value of 4 bytes and more that can be read in all tokens of as
// and in none of bs.
func onlyIn(as, bs []*Token) ([]byte, bool) {
	for _, v := range values(as[0].Text) {
		if len(v) < 4 {
			continue
		}
		inAll, inOther := true, false
		for _, a := range as[1:] {
			inAll = inAll && holdsValue(a.Text, v)
		}
		for _, b := range bs {
			inOther = inOther || holdsValue(b.Text, v)
		}
		if inAll && !inOther {
			return v, true
		}
	}
	return nil, false
}

func holdsValue(token, value []byte) bool {
	for _, v := range values(token) {
		if bytes.Equal(v, value) {
			return true
		}
	}
	return false
}

// placeOnlyIn finds a run of n bytes that is one for all of as and one for all of
// bs, and not the same.
func placeOnlyIn(as, bs [][]byte, n int) (int, bool) {
	for at := 0; at+n <= min(len(as[0]), len(bs[0])); at++ {
		if agree(as, at, n) && agree(bs, at, n) && !bytes.Equal(as[0][at:at+n], bs[0][at:at+n]) {
			return at, true
		}
	}
	return 0, false
}

func rawsOf(toks []*Token) [][]byte {
	var all [][]byte
	for _, tok := range toks {
		all = append(all, tok.raws())
	}
	return all
}

func textsOf(toks []*Token) [][]byte {
	var all [][]byte
	for _, tok := range toks {
		all = append(all, tok.Text)
	}
	return all
}

func agree(raws [][]byte, at, n int) bool {
	for _, raw := range raws {
		if at+n > len(raw) || !bytes.Equal(raw[at:at+n], raws[0][at:at+n]) {
			return false
		}
	}
	return true
}
