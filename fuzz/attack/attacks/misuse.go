package attacks

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// misusedNonce seals two states under one seed. If the design takes no seed but is
// deterministic, it seals states with a common part, and many states.
func (t trial) misusedNonce(in *attack.Instance, tok *attack.Token) {
	if in.SeedSize() == 0 {
		if t.Readable(tok) || !in.Deterministic(tok) {
			t.Skip("the design takes no randomness from outside, and is not deterministic")
			return
		}
		t.commonParts(func(state []byte) (*attack.Token, bool) {
			sealed := in.Seal(state, tok.Under)
			return in.TokenOf(sealed, tok.Under), sealed.Answer.Outcome == verdict.Done
		})
		t.shortNonces(in, tok)
		t.oneStreamAtTwoTimes(in, tok.Under)
		return
	}
	seed := t.Bytes(in.SeedSize())
	seal := func(state []byte) (*attack.Token, bool) {
		sealed, err := in.Seeded(seed, state, tok.Under)
		return in.TokenOf(sealed, tok.Under), err == nil
	}
	a, okA := seal(t.State(64))
	b, okB := seal(t.State(64))
	if !okA || !okB {
		t.Skip("the design does not seal an ordinary state under a given seed")
		return
	}
	t.Try(codecs.NonceMisuseResistant)
	switch {
	case t.Readable(a):
	case sameStream(a, b):
		t.RefuteIf(codecs.NonceMisuseResistant, attack.Sealed(2), "two states under one nonce: the difference of the tokens is that of the states", a.Sealed, b.Sealed)
	default:
		t.commonParts(seal)
	}
}

// commonForms are forms of states with a common part and a distinct part.
var commonForms = [][2]string{{"first", `{"step":"%[1]s%[2]s"}`}, {"last", `{"step":"%[2]s%[1]s"}`}, {"first and last", `{"step":"%[1]s%[2]s%[1]s"}`}}

// commonParts seals states that share their first or last bytes, or both, without randomness or
// under one nonce. If their tokens share bytes as well, they reveal more than equality.
func (t trial) commonParts(seal func(state []byte) (*attack.Token, bool)) {
	for _, n := range []int{16, 32, 64, 256, 1024, 4096, 1 << 14, 1 << 16} {
		if n > 4096 && n > t.Budget.Bytes {
			break
		}
		part := t.Letters(n)
		for _, parts := range commonForms {
			where, form := parts[0], parts[1]
			a, okA := seal(fmt.Appendf(nil, form, part, t.Letters(64)))
			b, okB := seal(fmt.Appendf(nil, form, part, t.Letters(64)))
			c, okC := seal(t.State(len(a.State) - len(t.State(0))))
			if !okA || !okB || !okC {
				continue
			}
			t.Try(codecs.NonceMisuseResistant)
			if with, without := longestCommon(a.Bytes(), b.Bytes()), longestCommon(a.Bytes(), c.Bytes()); with >= without+12 {
				t.RefuteIf(codecs.NonceMisuseResistant, attack.Sealed(2), fmt.Sprintf("two states that share their %s bytes, %d, give tokens that share a "+
					"run of %d bytes; others share %d", where, n, with, without), a.Sealed, b.Sealed)
				return
			}
		}
	}
}

// The search for two states that share a nonce, if nonces are derived from 16 or 20 bits of the
// state.
const (
	manyStates = 1 << 11
	manyPairs  = 16 // number of pairs to compare whose tokens share a run
	shortRun   = 12 // length of a run, in characters
)

// shortNonces seals many states of one length without randomness. It compares pairs whose
// tokens share a run of characters that not all tokens have.
func (t trial) shortNonces(in *attack.Instance, tok *attack.Token) {
	seen, pairs := map[string]verdict.Call{}, 0
	var first []byte
	for range min(manyStates, t.Budget.Seals) / attack.BatchSize {
		states := make([][]byte, attack.BatchSize)
		for k := range states {
			states[k] = t.State(64)
		}
		t.TryTimes(len(states), codecs.NonceMisuseResistant)
		for _, call := range in.Seals(tok.Under, states) {
			text := call.Answer.Out
			if first == nil {
				first = text
			}
			for at := 0; at+shortRun <= min(len(text), len(first)); at += 4 {
				run := fmt.Sprint(at, " ", string(text[at:at+shortRun]))
				other, ok := seen[run]
				seen[run] = call
				if !ok || bytes.Equal(text[at:at+shortRun], first[at:at+shortRun]) {
					continue
				}
				if pairs++; t.oneNonce(in, tok.Under, other, call) || pairs == manyPairs || t.Spent() {
					return
				}
			}
		}
	}
}

// oneNonce reports a refutation if the tokens of two calls share a key stream.
func (t trial) oneNonce(in *attack.Instance, under codecs.Context, a, b verdict.Call) bool {
	if bytes.Equal(a.State, b.State) || !sameStream(in.TokenOf(a, under), in.TokenOf(b, under)) {
		return false
	}
	t.RefuteIf(codecs.NonceMisuseResistant, attack.Sealed(2), "two of many states have one nonce: the difference of their tokens is that of the states", a, b)
	return true
}

// oneStreamAtTwoTimes seals three states at two times each, without randomness. It looks for
// bytes that differ between states but whose change between the two times does not. Such bytes
// hide the times under a key stream that depends on the state alone.
func (t trial) oneStreamAtTwoTimes(in *attack.Instance, under codecs.Context) {
	const (
		apart  = 1429*24*time.Hour + 34567890*time.Millisecond
		enough = 3 // bytes
	)
	if !t.Design.IsScheme() || t.Design.OwnClock {
		return
	}
	var differences, first [][]byte
	var calls []verdict.Call
	for range 3 {
		state := t.State(24)
		a, okA := in.Mint(state, under)
		b, okB := in.Mint(state, attack.Later(under, apart))
		if !okA || !okB {
			return
		}
		first, differences, calls = append(first, a.Bytes()), append(differences, tokenfmt.Xor(a.Bytes(), b.Bytes())), append(calls, a.Sealed, b.Sealed)
	}
	shared := 0
	for i := range min(len(differences[0]), len(differences[1]), len(differences[2])) {
		one := differences[0][i] == differences[1][i] && differences[0][i] == differences[2][i] && differences[0][i] != 0
		if one && (first[0][i] != first[1][i] || first[0][i] != first[2][i]) {
			shared++
		}
	}
	t.Try(codecs.NonceMisuseResistant)
	if shared >= enough {
		t.RefuteIf(codecs.NonceMisuseResistant, attack.Sealed(6), fmt.Sprintf("tokens of one state at two times differ in %d bytes as those of other "+
			"states do: one key stream hides both times", shared), calls...)
	}
}

// longestCommon returns the length of the longest run that a and b share at the same position.
func longestCommon(a, b []byte) int {
	longest, n := 0, 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			n++
			longest = max(longest, n)
			continue
		}
		n = 0
	}
	return longest
}

// nonceLengths replaces the nonce in tokens by nonces of other lengths.
func (t trial) nonceLengths(in *attack.Instance, tok *attack.Token) {
	for _, n := range []int{0, 8, 11, 12, 13, 16, 24, 25, 64} {
		wrote := false
		text, err := in.Edited(nil, tok.State, tok.Under, func(s lab.Step, value []byte) []byte {
			if s != lab.WireNonce || len(value) == n {
				return value
			}
			wrote = true
			return append(value, make([]byte, n)...)[:n]
		})
		if errors.Is(err, codecs.ErrUnsupported) {
			t.Skip("the design does not seal step by step")
			return
		}
		if err != nil || !wrote {
			continue
		}
		t.Try(codecs.Total)
		t.Change(in, tok, text, fmt.Sprintf("a nonce of %d bytes in the token", n))
	}
}
