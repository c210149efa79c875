package attack

import (
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// taken reports whether the subject opens under the ring. A worker that broke
// has not answered.
func (t *Trial) taken(keys ...[]byte) (call verdict.Call, taken, answered bool) {
	_, err := t.party(keys...)
	switch {
	case err == nil:
		return openCall(keys, nil, verdict.Answer{Outcome: verdict.Done}), true, true
	case errors.Is(err, codecs.ErrFault):
		return verdict.Call{}, false, false
	default:
		return verdict.Call{}, false, true
	}
}

func weakKeys(t *Trial) {
	good := t.secret(0)
	for _, n := range []int{0, 1, 8, 15, 16, 24, 31} {
		for _, ring := range [][][]byte{{good[:n]}, {good, t.secret(1)[:n]}} {
			if !t.opens(ring[:len(ring)-1]) {
				continue
			}
			call, taken, answered := t.taken(ring...)
			if answered {
				t.try(codecs.StrongKeys)
			}
			if taken && !t.defaulted(ring) {
				t.refute(codecs.StrongKeys, fmt.Sprintf("a ring with a key of %d bytes is taken", n), call)
			}
		}
	}
	if _, taken, _ := t.taken(); taken && t.shared() {
		t.refute(codecs.StrongKeys, "without any key the subject opens under one that is always the same", openCall(nil, nil, verdict.Answer{Outcome: verdict.Done}))
	}
}

// opens reports whether the subject opens under as many good keys, and one more.
func (t *Trial) opens(ring [][]byte) bool {
	_, err := t.party(append(slices.Clone(ring), t.secret(9))...)
	return err == nil
}

// defaulted reports that an empty secret stands for a fresh random one.
func (t *Trial) defaulted(ring [][]byte) bool {
	if len(ring) != 1 || len(ring[0]) > 0 {
		return false
	}
	return !t.shared([]byte{})
}

// shared reports whether two parties under the ring open each other's tokens.
func (t *Trial) shared(keys ...[]byte) bool {
	a, errA := t.party(keys...)
	b, errB := t.party(keys...)
	if errA != nil || errB != nil {
		return false
	}
	tok, ok := t.mint(a, t.state(24))
	if !ok {
		return false
	}
	_, ok = b.accepts(tok.Text, tok.Under)
	return ok
}

func keyTwice(t *Trial) {
	a, b := t.secret(0), t.secret(1)
	if _, err := t.party(a, b); err != nil {
		t.skip("the subject takes one key only")
		return
	}
	for _, ring := range [][][]byte{{a, a}, {a, b, a}, {a, b, b}} {
		call, taken, answered := t.taken(ring...)
		if answered {
			t.try(codecs.StrongKeys)
		}
		if taken {
			t.refute(codecs.StrongKeys, fmt.Sprintf("a ring of %d keys, one of them twice, is taken", len(ring)), call)
		}
	}
}

// rotation mints under each of five keys and opens under rings that hold the
// key in every place, and in none.
func rotation(t *Trial) {
	var keys [][]byte
	for n := range 5 {
		keys = append(keys, t.secret(n))
	}
	if _, err := t.party(keys[0], keys[1]); err != nil {
		t.skip("the subject takes one key only")
		return
	}
	if _, err := t.party(keys...); err != nil {
		keys = keys[:2]
	}
	for i, key := range keys {
		alone, err := t.party(key)
		if err != nil {
			continue
		}
		if _, ok := t.mint(alone, t.state(24)); !ok {
			t.skip("the subject does not seal an ordinary state")
			return
		}
		for shift := range keys {
			turned := slices.Concat(keys[shift:], keys[:shift])
			t.opensUnder(alone, turned, true, fmt.Sprintf("key %d of a ring of %d does not unseal", (i-shift+len(keys))%len(keys)+1, len(keys)))
		}
		without := slices.Delete(slices.Clone(keys), i, i+1)
		t.opensUnder(alone, without, false, "a token of a key that is not in the ring is accepted")
		t.sealsUnder(slices.Concat(keys[i:], keys[:i]))
	}
}

// opensUnder presents a new token of one party to a ring and expects it to be
// accepted, or not.
func (t *Trial) opensUnder(from *Party, ring [][]byte, want bool, issue string) {
	p, err := t.party(ring...)
	if err != nil {
		return
	}
	tok, ok := t.mint(from, t.state(24))
	if !ok {
		return
	}
	t.try(codecs.Rotation)
	if call, ok := p.accepts(tok.Text, tok.Under); ok != want {
		t.refute(codecs.Rotation, issue, tok.Sealed, call)
	}
}

// sealsUnder checks that the first key of the ring seals, and no other.
func (t *Trial) sealsUnder(ring [][]byte) {
	p, err := t.party(ring...)
	if err != nil {
		return
	}
	t.opensUnder(p, ring[:1], true, "a ring's new token does not open under its first key alone")
	t.opensUnder(p, ring[1:], false, "a ring's new token opens without its first key")
}
