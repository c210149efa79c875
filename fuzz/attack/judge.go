package attack

import (
	"bytes"
	"fmt"

	"sealab/codecs"
)

// spelling presents another spelling of tok, which decodes to the same bytes.
// If it is taken for the same token, the design has no single spelling; if it
// brings another state, it has no integrity.
func (t *Trial) spelling(p *Party, tok *Token, altered []byte, how string) {
	if bytes.Equal(altered, tok.Text) {
		return
	}
	t.try(codecs.Canonical, codecs.Integrity)
	call, ok := p.accepts(altered, tok.Under)
	switch {
	case !ok:
	case tok.same(call):
		t.refute(codecs.Canonical, "a second spelling is accepted: "+how, tok.Sealed, call)
	default:
		t.refute(codecs.Integrity, "an altered token is accepted with another state: "+how, tok.Sealed, call)
	}
}

// change presents tok with other bytes inside. Whatever is accepted was never
// sealed; where the state is the same as well, there is a second spelling too.
func (t *Trial) change(p *Party, tok *Token, altered []byte, how string) bool {
	if bytes.Equal(altered, tok.Text) {
		return false
	}
	t.try(codecs.Integrity)
	call, ok := p.accepts(altered, tok.Under)
	if !ok {
		return false
	}
	if tok.same(call) && tok.shape().spells(altered) {
		return false // a spelling, which is another attack's matter
	}
	what := "another state"
	if tok.same(call) {
		what = "the same state"
		t.refute(codecs.Canonical, "a token with other bytes is accepted: "+how, tok.Sealed, call)
	}
	t.refute(codecs.Integrity, fmt.Sprintf("a token that was never sealed is accepted with %s: %s", what, how), tok.Sealed, call)
	return true
}
