package attacks

import (
	"errors"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
	"sealab/internal/verdict"
)

// taken reports whether the design opens under the ring. If a worker broke, answered is false.
func (t trial) taken(keys ...[]byte) (call verdict.Call, taken, answered bool) {
	_, err := t.Open(keys...)
	switch {
	case err == nil:
		return attack.OpenCall(keys, nil, verdict.Answer{Outcome: verdict.Done}), true, true
	case errors.Is(err, codecs.ErrFault):
		return verdict.Call{}, false, false
	default:
		return verdict.Call{}, false, true
	}
}

func (t trial) weakKeys() {
	good := t.Secret(0)
	for _, n := range []int{0, 1, 8, 15, 16, 24, 31} {
		for _, ring := range [][][]byte{{good[:n]}, {good, t.Secret(1)[:n]}, {slices.Concat(good, t.Secret(2)), t.Secret(1)[:n]}} {
			if !t.opens(ring[:len(ring)-1]) {
				continue
			}
			call, taken, answered := t.taken(ring...)
			if answered {
				t.Try(codecs.StrongKeys)
			}
			if taken && !t.defaulted(ring) {
				t.Refute(codecs.StrongKeys, fmt.Sprintf("a ring with a key of %d bytes is accepted", n), call)
			}
		}
	}
	if _, taken, _ := t.taken(); taken && t.shared() {
		t.Refute(codecs.StrongKeys, "without any key the design opens under one that is always the same", attack.OpenCall(nil, nil, verdict.Answer{Outcome: verdict.Done}))
	}
}

// opens reports whether the design opens under the ring with one more good key.
func (t trial) opens(ring [][]byte) bool {
	_, err := t.Open(append(slices.Clone(ring), t.Secret(9))...)
	return err == nil
}

// defaulted reports whether the design replaces an empty secret by a fresh random one.
func (t trial) defaulted(ring [][]byte) bool {
	if len(ring) != 1 || len(ring[0]) > 0 {
		return false
	}
	return !t.shared([]byte{})
}

// shared reports whether two instances opened under the ring accept each other's tokens.
func (t trial) shared(keys ...[]byte) bool {
	a, errA := t.Open(keys...)
	b, errB := t.Open(keys...)
	if errA != nil || errB != nil {
		return false
	}
	tok, ok := t.Mint(a, t.State(24))
	if !ok {
		return false
	}
	_, ok = b.Accepts(tok.Text, tok.Under)
	return ok
}

func (t trial) keyTwice() {
	a, b := t.Secret(0), t.Secret(1)
	if _, err := t.Open(a, b); err != nil {
		t.Skip("the design takes one key only")
		return
	}
	rings := [][][]byte{{a, a}, {a, b, a}, {a, b, b}}
	long := t.firstSecrets(16)
	if _, err := t.Open(long...); err == nil {
		rings = append(rings, append(slices.Clone(long), long[15]), append(slices.Clone(long), long[0]))
	}
	for _, ring := range rings {
		call, taken, answered := t.taken(ring...)
		if answered {
			t.Try(codecs.StrongKeys)
		}
		if taken {
			t.Refute(codecs.StrongKeys, fmt.Sprintf("a ring of %d keys, one of them twice, is accepted", len(ring)), call)
		}
	}
}

// rotation mints under each of five keys. It opens the tokens under rings with the key at every
// position, and under a ring without it.
func (t trial) rotation() {
	keys := t.firstSecrets(5)
	if _, err := t.Open(keys[0], keys[1]); err != nil {
		t.Skip("the design takes one key only")
		return
	}
	if _, err := t.Open(keys...); err != nil {
		keys = keys[:2]
	}
	for i, key := range keys {
		alone, err := t.Open(key)
		if err != nil {
			continue
		}
		if _, ok := t.Mint(alone, t.State(24)); !ok {
			t.Skip("the design does not seal an ordinary state")
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
	for n := 2; n < len(keys); n++ {
		t.sealsUnder(keys[:n])
	}
	long := slices.Concat(keys[1], t.Secret(5))
	t.sealsUnder([][]byte{keys[0], long})
	t.sealsUnder([][]byte{long, keys[0]})
	t.longRings()
	t.alikeKeys()
	t.rotatedElsewhere()
}

// rotatedElsewhere presents unusual tokens of the second key, of other lengths and with fewer
// fields, to a ring of both keys and to a ring without their key.
func (t trial) rotatedElsewhere() {
	in, tok, ok := t.Base()
	ring, errRing := t.Open(t.Secret(1), t.Secret(0))
	without, err := t.Open(t.Secret(1))
	if !ok || errRing != nil || err != nil {
		return
	}
	ask := func(state []byte, c codecs.Context) {
		tok, ok := in.Mint(state, c)
		if !ok {
			return
		}
		t.Try(codecs.Rotation)
		if call, ok := ring.Accepts(tok.Text, c); !ok {
			t.Refute(codecs.Rotation, fmt.Sprintf("the second key of a ring does not unseal a token of a state of %d bytes in the context %s", len(state), fields.Describe(c)), tok.Sealed, call)
		}
		if call, ok := without.Accepts(tok.Text, c); ok {
			t.Refute(codecs.Rotation, fmt.Sprintf("a token of a key that is not in the ring is accepted with a state of %d bytes in the context %s", len(state), fields.Describe(c)), tok.Sealed, call)
		}
	}
	ask(nil, tok.Under) // once only: the next token may be equal, and a token may be accepted only once
	for _, n := range []int{1, 300, attack.LongState, attack.LongerState} {
		ask(t.Letters(n), tok.Under)
		ask(t.State(n), tok.Under)
	}
	if t.Design.IsScheme() {
		for _, c := range fields.Reduced(tok.Under) {
			ask(t.State(8), c)
		}
	}
}

// alikeKeys presents tokens of two keys with common first or last bytes to rings of both. A
// design may refuse to open such a ring.
func (t trial) alikeKeys() {
	a, b := t.Secret(0), t.Secret(1)
	for _, n := range []int{4, 8, 16, 31} {
		for _, like := range [][]byte{slices.Concat(a[:n], b[n:]), slices.Concat(b[:len(b)-n], a[len(a)-n:])} {
			for _, ring := range [][][]byte{{a, like}, {like, a}} {
				for i, key := range ring {
					if alone, err := t.Open(key); err == nil {
						t.opensUnder(alone, ring, true, fmt.Sprintf("key %d of a ring of two keys that share %d bytes does not unseal", i+1, n))
					}
				}
			}
		}
	}
}

// longRings presents tokens of keys in the middle and at the end of rings of 9 to 257 keys, and new tokens of these. A
// design may refuse to open such a ring.
func (t trial) longRings() {
	for _, n := range []int{9, 17, 33, 65, 257} {
		ring := t.firstSecrets(n)
		for _, k := range []int{n / 2, n - 1} {
			if alone, err := t.Open(ring[k]); err == nil {
				t.opensUnder(alone, ring, true, fmt.Sprintf("key %d of a ring of %d does not unseal", k+1, n))
			}
		}
		t.sealsUnder(ring)
	}
}

// opensUnder presents a new token of an instance to a ring and refutes rotation unless
// acceptance is as wanted.
func (t trial) opensUnder(from *attack.Instance, ring [][]byte, want bool, issue string) {
	in, err := t.Open(ring...)
	if err != nil {
		return
	}
	tok, ok := t.Mint(from, t.State(24))
	if !ok {
		return
	}
	t.Try(codecs.Rotation)
	if call, ok := in.Accepts(tok.Text, tok.Under); ok != want {
		t.Refute(codecs.Rotation, issue, tok.Sealed, call)
	}
}

// sealsUnder checks that the ring seals with its first key.
func (t trial) sealsUnder(ring [][]byte) {
	in, err := t.Open(ring...)
	if err != nil {
		return
	}
	t.opensUnder(in, ring[:1], true, "a new token of a ring does not open under its first key alone")
	t.opensUnder(in, ring[1:], false, "a new token of a ring opens without its first key")
}
