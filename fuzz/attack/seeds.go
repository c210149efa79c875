package attack

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// seeded seals states under a seed of the laboratory's choice, if the subject
// allows it.
func (p *Party) seeded(seed, state []byte, c verdict.Context) ([]byte, error) {
	return p.instance.SealSeeded(nil, seed, state, c.Codecs())
}

// seedSize is the length of a seed; 0 if there is none.
func (p *Party) seedSize() int { return p.instance.SeedSize() }

// edited seals state under an edit, if the subject allows it.
func (p *Party) edited(state []byte, c verdict.Context, edit lab.Edit) ([]byte, error) {
	return p.instance.SealEdited(nil, p.trial.bytes(p.seedSize()), state, c.Codecs(), edit)
}

// misusedNonce seals two states under one seed.
func misusedNonce(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	if p.seedSize() == 0 {
		t.skip("the subject takes no randomness from outside, or needs none")
		return
	}
	seed := t.bytes(p.seedSize())
	states := [][]byte{t.state(64), t.state(64)}
	var texts [][]byte
	for _, state := range states {
		text, err := p.seeded(seed, state, tok.Under)
		if err != nil {
			t.skip("the subject does not seal an ordinary state under a given seed")
			return
		}
		texts = append(texts, text)
	}
	t.try(codecs.NonceMisuseResistant)
	a := &Token{Text: texts[0], State: states[0], Under: tok.Under, party: p}
	b := &Token{Text: texts[1], State: states[1], Under: tok.Under, party: p}
	if !t.readable(a) && t.sameStream(a, b) {
		t.refute(codecs.NonceMisuseResistant, "two states under one nonce: the difference of the tokens is that of the states",
			p.record(states[0], texts[0], tok.Under), p.record(states[1], texts[1], tok.Under))
	}
}

// record is the call that made text from state under a seed.
func (p *Party) record(state, text []byte, c verdict.Context) verdict.Call {
	call := verdict.Call{Op: verdict.OpSeal, Keys: p.keys, State: state, Answer: verdict.Answer{Outcome: verdict.Done, Out: text}}
	if p.isScheme() {
		call.Context = &c
	}
	return call
}

// nonceLengths puts nonces of other lengths on the wire.
func nonceLengths(t *Trial) {
	p, tok, ok := t.base()
	if !ok {
		return
	}
	for _, n := range []int{0, 8, 11, 12, 13, 16, 24, 25, 64} {
		wrote := false
		text, err := p.edited(tok.State, tok.Under, func(s lab.Step, value []byte) []byte {
			if s != lab.WireNonce || len(value) == n {
				return value
			}
			wrote = true
			return append(value, make([]byte, n)...)[:n]
		})
		if errors.Is(err, codecs.ErrUnsupported) {
			t.skip("the subject cannot be sealed step by step")
			return
		}
		if err != nil || !wrote {
			continue
		}
		t.try(codecs.Total)
		t.change(p, tok, text, fmt.Sprintf("a nonce of %d bytes on the wire", n))
	}
}
