package attack

import (
	"time"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// forgotten is how many tokens are presented between the first time and the second,
// where what was spent is kept in a list of a bounded length.
const forgotten = 1100

// presentedTwice presents a token twice: one after the other, in one batch, after
// many others, and late in its life.
func presentedTwice(t *Trial) {
	p, tok, ok := t.scheme()
	if !ok {
		return
	}
	t.try(codecs.SingleUse)
	first, once := p.accepts(tok.Text, tok.Under)
	if second, twice := p.accepts(tok.Text, tok.Under); once && twice {
		t.refute(codecs.SingleUse, "a token is accepted a second time", tok.Sealed, first, second)
		return
	}
	t.twiceInBatch(p, tok)
	t.lateAgain(tok.Under)
	t.afterOthers(p, tok)
}

func (t *Trial) twiceInBatch(p *Party, tok *Token) {
	tok, ok := p.mint(t.state(24), tok.Under)
	if !ok {
		return
	}
	vs, err := p.unsealBatch([][]byte{tok.Text, tok.Text}, tok.Under)
	if err == nil && len(vs) == 2 && vs[0].Err == nil && vs[1].Err == nil {
		t.refute(codecs.SingleUse, "a token that stands twice in a batch is accepted twice", tok.Sealed)
	}
}

// lateAgain presents a token at once and once more towards the end of its life.
func (t *Trial) lateAgain(c verdict.Context) {
	ttl := 10 * time.Minute
	p, err := t.partyFor(&ttl, t.secret(0))
	if err != nil || t.Subject.OwnClock {
		return
	}
	sealed := p.seal(t.state(8), c)
	if sealed.Answer.Outcome != verdict.Done {
		return
	}
	first, once := p.accepts(sealed.Answer.Out, c)
	for _, d := range []time.Duration{ttl / 4, ttl * 3 / 4, ttl * 19 / 20} {
		t.try(codecs.SingleUse)
		if second, twice := p.accepts(sealed.Answer.Out, later(c, d)); once && twice {
			t.refute(codecs.SingleUse, "a token with a time to live of "+ttl.String()+" is accepted a second time after "+d.String(), sealed, first, second)
		}
	}
}

// afterOthers presents a token, many others, and the token again.
func (t *Trial) afterOthers(p *Party, tok *Token) {
	sealed := p.seal(tok.State, tok.Under)
	first, once := p.accepts(sealed.Answer.Out, tok.Under)
	if !once {
		return
	}
	for k := range min(forgotten, t.Budget.Unseals) {
		if k%128 == 127 && t.spent() {
			return
		}
		p.accepts(p.seal(tok.State, tok.Under).Answer.Out, tok.Under)
	}
	t.try(codecs.SingleUse)
	if second, twice := p.accepts(sealed.Answer.Out, tok.Under); twice {
		t.refute(codecs.SingleUse, "a token is accepted a second time after others", sealed, first, second)
	}
}
