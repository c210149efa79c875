package attack

import (
	"bytes"
	"fmt"
	"slices"
)

// splices puts parts of two tokens together, by pieces and by bytes, and moves
// blocks inside one.
func splices(t *Trial) {
	p, a, ok := t.base()
	if !ok {
		return
	}
	b, ok := t.mint(p, t.state(24))
	if !ok {
		return
	}
	sa, sb := a.shape(), b.shape()
	if len(sa.pieces) != len(sb.pieces) {
		t.skip("two tokens of one length have different shapes")
		return
	}
	for i := range sa.pieces {
		t.splice(p, a, b, sa.withText(i, sb.pieces[i].text), fmt.Sprintf("piece %d of another token", i))
	}
	for i := range sa.pieces {
		for j := i + 2; j < len(sa.pieces); j++ {
			mixed := shape{pieces: slices.Concat(sa.pieces[:i], sb.pieces[i:j+1], sa.pieces[j+1:])}
			t.splice(p, a, b, mixed.text(), fmt.Sprintf("pieces %d to %d of another token", i, j))
		}
	}
	for _, i := range sa.coded() {
		ra, rb := sa.pieces[i].raw, sb.pieces[i].raw
		for n := 1; n < min(len(ra), len(rb)); n++ {
			joined := append(bytes.Clone(rb[:n]), ra[n:]...)
			t.splice(p, a, b, sa.with(i, joined), fmt.Sprintf("the first %d bytes of piece %d from another token", n, i))
		}
	}
	t.blocks(p)
}

// splice presents what was put together from a and b, unless it is one of them.
func (t *Trial) splice(p *Party, a, b *Token, altered []byte, how string) {
	if !bytes.Equal(altered, b.Text) {
		t.change(p, a, altered, how)
	}
}

// blocks exchanges, repeats and leaves out blocks of 16 bytes of a long token.
func (t *Trial) blocks(p *Party) {
	tok, ok := t.mint(p, t.state(200))
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		for from := 0; from+32 <= len(raw); from += 4 {
			x, y := raw[from:from+16], raw[from+16:from+32]
			for _, middle := range [][][]byte{{y, x}, {y}, {x}, {x, x, y}} {
				altered := slices.Concat(raw[:from], slices.Concat(middle...), raw[from+32:])
				t.change(p, tok, s.with(i, altered), fmt.Sprintf("the 16-byte blocks at byte %d of piece %d exchanged, repeated or left out", from, i))
			}
		}
	}
}
