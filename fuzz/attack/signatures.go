package attack

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"sealab/codecs"
)

// The orders of the groups in which signatures have a second form.
var (
	orderEd25519 = number("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed")
	orderP256    = number("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
	orderK256    = number("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
)

func number(hex string) *big.Int {
	n, ok := new(big.Int).SetString(hex, 16)
	if !ok {
		panic("sealab: " + hex + " is no number")
	}
	return n
}

// otherSignatures takes the last 32 bytes of each piece for the scalar of a
// signature and writes its other form: S + L for Ed25519, n - s for ECDSA.
func otherSignatures(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	s := tok.shape()
	for _, i := range s.coded() {
		raw := s.pieces[i].raw
		if len(raw) < 32 {
			continue
		}
		head, last := raw[:len(raw)-32], raw[len(raw)-32:]
		little := slices.Clone(last)
		slices.Reverse(little)
		if sum := new(big.Int).Add(new(big.Int).SetBytes(little), orderEd25519); sum.BitLen() <= 256 {
			other := sum.FillBytes(make([]byte, 32))
			slices.Reverse(other)
			t.spelling(p, tok, s.with(i, slices.Concat(head, other)), fmt.Sprintf("the order of Ed25519 added to the last number of piece %d", i))
		}
		for _, order := range []*big.Int{orderP256, orderK256} {
			if other := new(big.Int).Sub(order, new(big.Int).SetBytes(last)); other.Sign() > 0 {
				t.spelling(p, tok, s.with(i, slices.Concat(head, other.FillBytes(make([]byte, 32)))), fmt.Sprintf("the last number of piece %d negated", i))
			}
		}
	}
}

// otherHashes makes the tag again with every other function that the laboratory
// knows, cut to the tag's length and whole.
func otherHashes(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	f, ok := tok.shape().recognise(t.secret(0))
	if !ok || f.tags == nil {
		t.skip("how the tag is made from the secret was not recognised")
		return
	}
	for _, m := range macs {
		for _, altered := range f.tags(m, f.body) {
			if !bytes.Equal(altered, tok.Text) {
				t.change(p, tok, altered, "the tag is "+m.name)
			}
		}
	}
	t.try(codecs.Integrity)
}
