package attacks

import (
	"errors"
	"fmt"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/lab"
	"sealab/internal/verdict"
)

// misusedNonce seals two states under one seed. Without seeds it asks a deterministic
// design for states with a common beginning.
func (t trial) misusedNonce(in *attack.Instance, tok *attack.Token) {
	if in.SeedSize() == 0 {
		if t.Readable(tok) || !t.deterministic(in, tok) {
			t.Skip("the design takes no randomness from outside, and is not deterministic")
			return
		}
		t.commonParts(func(state []byte) (*attack.Token, bool) {
			sealed := in.Seal(state, tok.Under)
			return in.TokenOf(sealed, tok.Under), sealed.Answer.Outcome == verdict.Done
		})
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

// commonParts seals states that share their first or last bytes, without randomness or
// under one nonce. Tokens that share bytes as well reveal more than equality.
func (t trial) commonParts(seal func(state []byte) (*attack.Token, bool)) {
	for _, n := range []int{16, 32, 64, 256, 1024, 4096, 1 << 14, 1 << 16} {
		if n > 4096 && n > t.Budget.Bytes {
			break
		}
		part := t.Letters(n)
		for _, where := range []string{"first", "last"} {
			form := `{"step":"%[1]s%[2]s"}`
			if where == "last" {
				form = `{"step":"%[2]s%[1]s"}`
			}
			a, okA := seal(fmt.Appendf(nil, form, part, t.Letters(64)))
			b, okB := seal(fmt.Appendf(nil, form, part, t.Letters(64)))
			c, okC := seal(t.State(n + 64))
			if !okA || !okB || !okC {
				continue
			}
			t.Try(codecs.NonceMisuseResistant)
			if with, without := longestCommon(a.Bytes(), b.Bytes()), longestCommon(a.Bytes(), c.Bytes()); with >= without+12 {
				t.RefuteIf(codecs.NonceMisuseResistant, attack.Sealed(2), fmt.Sprintf("two states that share their %s bytes, %d, give tokens that share a run of %d bytes; others share %d", where, n, with, without), a.Sealed, b.Sealed)
				return
			}
		}
	}
}

// longestCommon returns the length of the longest run that a and b share at one place.
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

// nonceLengths puts nonces of other lengths into tokens.
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
