package attack

import (
	"bytes"

	"sealab/codecs"
	"sealab/codecs/catalog"
)

// otherDesigns presents tokens of every design of the catalog.
func otherDesigns(t *Trial) {
	secret := t.secret(0)
	p, err := t.party(secret)
	if err != nil {
		t.skip("the subject does not open under a random secret of 32 bytes")
		return
	}
	for _, d := range catalog.Variants() {
		other := newTrial(&Subject{Design: d}, t.attack, t.seed, t.Budget)
		q, err := other.party(secret)
		if err != nil || d.Name == t.Subject.Name {
			continue
		}
		tok, ok := other.mint(q, t.state(24))
		if !ok || t.sameFormat(p, q, tok) {
			continue
		}
		for _, text := range [][]byte{tok.Text, t.disguised(p, d, tok)} {
			t.try(codecs.KeySeparation)
			if call, ok := p.accepts(text, tok.Under); ok {
				t.refute(codecs.KeySeparation, "a token of another design under the same secret is accepted", call)
			}
		}
	}
}

// sameFormat reports that the two designs write one format, since each opens the
// other's tokens: an implementation in another language does.
func (t *Trial) sameFormat(p, q *Party, tok *Token) bool {
	mine, ok := t.mint(p, t.state(24))
	if !ok {
		return false
	}
	_, there := q.accepts(mine.Text, mine.Under)
	_, here := p.accepts(tok.Text, tok.Under)
	return there && here
}

// disguised is a token of design d with the prefix of the subject.
func (t *Trial) disguised(p *Party, d codecs.Design, tok *Token) []byte {
	mine, ok := t.mint(p, t.state(24))
	if !ok {
		return tok.Text
	}
	return append([]byte(t.prefixOf(mine)), bytes.TrimPrefix(tok.Text, []byte(d.Prefix))...)
}

// rawSecret looks for the secret, as it stands, as the key of a known primitive:
// whatever else is authenticated under the secret may then be a token.
func rawSecret(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	t.try(codecs.KeySeparation)
	f, ok := tok.shape().recognise(p.keys[0])
	if !ok {
		return
	}
	if call, ok := p.accepts(f.seal(f.body), tok.Under); ok {
		t.observe(codecs.KeySeparation, "the secret itself is the key of "+f.name+": what else is made under it can be a token", tok.Sealed, call)
	}
}
