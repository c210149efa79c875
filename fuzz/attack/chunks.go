package attack

import (
	"bytes"
	"fmt"
	"slices"
)

// longState is the length of states that a format may carry in several chunks.
const longState = 5000

// longerState is the length of states that two bytes do not count.
const longerState = 70_000

// chunks works on the pieces of a long token, as far as it has more of them than a
// short one: the last left out, each left out, exchanged with the next, repeated,
// and taken from another token.
func chunks(t *Trial) {
	p, short, ok := t.base()
	if !ok {
		return
	}
	a, okA := p.mint(t.state(longState), short.Under)
	b, okB := p.mint(t.state(longState), short.Under)
	if !okA || !okB {
		t.skip("the subject seals no long states")
		return
	}
	sa, sb := a.shape(), b.shape()
	more := len(sa.pieces) - len(short.shape().pieces)
	if more < 2 || len(sb.pieces) != len(sa.pieces) {
		t.skip("a long token has no more pieces than a short one")
		return
	}
	for i := 1; i < min(len(sa.pieces), 128); i++ {
		present := func(how string, parts ...[]piece) {
			t.splice(p, a, b, shape{pieces: slices.Concat(parts...)}.text(), fmt.Sprintf("piece %d of %d %s", i, len(sa.pieces), how))
		}
		here, rest := sa.pieces[:i], sa.pieces[i:]
		present("and all behind it left out", here)
		present("left out with its border", here[:i-1], rest)
		present("from another token", here, sb.pieces[i:i+1], rest[1:])
		present("and all behind it from another token", here, sb.pieces[i:])
		if len(rest) > 2 {
			present("exchanged with the next", here, rest[2:3], rest[1:2], rest[:1], rest[3:])
			present("twice", here, rest[:2], rest)
		}
	}
}

// rarePaths changes the last bytes of each piece, where a tag may be, of tokens
// that meet other branches than an ordinary one: long ones, and those of the
// second key of a ring.
func rarePaths(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if long, ok := p.mint(t.state(longState), tok.Under); ok {
		t.changedBehind(p, long)
	}
	if t.Budget.Bytes >= 2*longerState {
		if longer, ok := p.mint(t.state(longerState), tok.Under); ok {
			t.changedOnce(p, longer)
		}
	}
	ring, err := t.party(t.secret(1), t.secret(0))
	if err != nil {
		return
	}
	for _, n := range []int{24, longState} {
		if second, ok := p.mint(t.state(n), tok.Under); ok {
			t.changedBehind(ring, second)
		}
	}
}

// changedBehind changes tok once, and guesses the last byte of each piece.
func (t *Trial) changedBehind(p *Party, tok *Token) {
	t.changedOnce(p, tok)
	s := tok.shape()
	for _, i := range s.coded() {
		forged := bytes.Clone(s.pieces[i].raw)
		forged[len(forged)/2] ^= 1
		t.guess(p, tok, s, i, forged, 1, min(256, t.Budget.Unseals))
	}
}

// changedOnce changes single bytes at the end of each piece of tok, and in all of it.
func (t *Trial) changedOnce(p *Party, tok *Token) {
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		ends := append(last(len(raw), 40), t.places(len(raw)-1, 100)...)
		for _, k := range t.sweep(len(ends)) {
			at := ends[k]
			altered := bytes.Clone(raw)
			altered[at] ^= 1 << t.IntN(8)
			t.change(p, tok, s.with(i, altered), fmt.Sprintf("byte %d of %d in piece %d", at, len(raw), i))
		}
	}
}

// last are the last n places of length.
func last(length, n int) []int {
	var at []int
	for i := max(0, length-n); i < length; i++ {
		at = append(at, i)
	}
	return at
}
