package attacks

import (
	"bytes"
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/verdict"
)

// placesOfKeys presents altered tokens of each key of two rings. If reasons at one stage differ
// between the places of a ring, and agree between the two rings at each place, they tell the
// place of a key in the ring. If they differ between the rings, they may only name the key.
func (t trial) placesOfKeys() {
	one, okOne := t.refusalsByPlace(t.secrets(0, 1, 2))
	two, okTwo := t.refusalsByPlace(t.secrets(3, 4, 5))
	if !okOne || !okTwo {
		return
	}
	for k := range one {
		if refusalOf(one[k]) != refusalOf(two[k]) {
			return
		}
	}
	t.Try(codecs.UniformRefusal)
	for _, other := range one[1:] {
		if other.Answer.Stage == one[0].Answer.Stage && refusalOf(other) != refusalOf(one[0]) {
			t.RefuteIf(codecs.UniformRefusal, attack.Differ, fmt.Sprintf("the reason of a refusal reveals the place of a key in the ring: %.80q and %.80q", refusalOf(one[0]), refusalOf(other)), one[0], other)
			return
		}
	}
}

// refusalsByPlace opens a ring and presents an altered token of each key. It reports false if a
// token is accepted, or if its refusals differ.
func (t trial) refusalsByPlace(secrets [][]byte) (calls []verdict.Call, ok bool) {
	ring, err := t.Open(secrets...)
	if err != nil {
		return nil, false
	}
	for _, secret := range secrets {
		in, err := t.Open(secret)
		if err != nil {
			return nil, false
		}
		tok, ok := t.Mint(in, t.State(24))
		if !ok {
			return nil, false
		}
		altered := lastAltered(tok)
		call, again := ring.Unseal(altered, tok.Under), ring.Unseal(altered, tok.Under)
		if bytes.Equal(altered, tok.Text) || call.Answer.Outcome != verdict.Refused || refusalOf(call) != refusalOf(again) {
			return nil, false
		}
		calls = append(calls, call)
	}
	return calls, true
}
