package timing

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// simulated returns an attacker on a simulated server. Each further right digit adds step nanoseconds,
// with noise of ten times a real server's step.
func simulated(seed uint64, tag []byte, step float64) *attacker {
	random := rand.New(rand.NewPCG(seed, 1))
	return &attacker{
		random: random, guess: bytes.Repeat([]byte("0"), tagDigits), most: 60_000_000, ops: 1, effort: firstRoundEffort,
		progress: func(int, int, Recovery) {},
		accepts:  func(guess []byte) bool { return bytes.Equal(tag, guess) },
		time: func(guess []byte) float64 {
			equal := 0
			for equal < len(tag) && tag[equal] == guess[equal] {
				equal++
			}
			return 250 + step*float64(equal) + 2*random.NormFloat64()
		},
	}
}

// randomTag returns a tag in hexadecimal.
func randomTag() []byte {
	return hex.AppendEncode(nil, randomBytes(rand.New(rand.NewPCG(3, 3)), tagSize))
}

func otherDigit(d byte) byte {
	if d == '0' {
		return '1'
	}
	return '0'
}

// TestRaceFindsTheDigit also checks that a wrong digit is not confirmed.
func TestRaceFindsTheDigit(t *testing.T) {
	tag := randomTag()
	a := simulated(1, tag, 0.3)
	copy(a.guess, tag[:5])
	a.guess[5] = a.race(5)
	require.Equal(t, tag[5], a.guess[5])
	require.True(t, a.confirmed(5))
	a.guess[5] = otherDigit(tag[5])
	require.False(t, a.confirmed(5), "a wrong digit is not confirmed")
	flat := simulated(2, tag, 0)
	copy(flat.guess, tag)
	require.False(t, flat.confirmed(5), "without a leak nothing is")
}

// TestRecoveryEndsWithTheTag recovers a whole tag.
func TestRecoveryEndsWithTheTag(t *testing.T) {
	tag := randomTag()
	a := simulated(1, tag, 4) // a step that is found with little effort, to keep the test short
	a.effort = 20
	require.NoError(t, a.recover())
	require.Equal(t, tag, a.guess)
	require.True(t, a.Verifies)
}

// TestRecoveryEnds checks that the attacker gives up if the times do not leak.
func TestRecoveryEnds(t *testing.T) {
	a := simulated(1, randomTag(), 0)
	a.effort, a.most = 20, 100_000
	require.ErrorIs(t, a.recover(), ErrTooManySamples)
	require.False(t, a.Verifies)
}
