package sha256pair

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAsStandard holds Sum to crypto/sha256 for all pairs of lengths of up to three
// blocks, and for texts that differ much in length, with room behind them and without.
func TestAsStandard(t *testing.T) {
	text := func(n, room int) []byte {
		b := make([]byte, n, n+room)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		return b
	}
	check := func(a, b []byte) {
		t.Helper()
		wantA, wantB := sha256.Sum256(a), sha256.Sum256(b)
		keptA, keptB := bytes.Clone(a), bytes.Clone(b)
		var x, y [sha256.Size]byte
		Sum(&x, &y, a, b)
		require.Equal(t, wantA, x, "lengths %d and %d", len(a), len(b))
		require.Equal(t, wantB, y, "lengths %d and %d", len(a), len(b))
		require.Equal(t, keptA, a[:len(a):len(a)])
		require.Equal(t, keptB, b[:len(b):len(b)])
	}
	for n := range 3*sha256.BlockSize + 2 {
		for m := range 3*sha256.BlockSize + 2 {
			check(text(n, Padding*(m%2)), text(m, Padding*(n%2)))
		}
	}
	for range 100 {
		check(text(rand.IntN(5000), 0), text(rand.IntN(5000), Padding))
	}
}

// TestRoom checks that Sum writes at most Padding bytes behind a text, and allocates
// only without that room.
func TestRoom(t *testing.T) {
	var x, y [sha256.Size]byte
	for n := range 2 * sha256.BlockSize {
		memory := bytes.Repeat([]byte{0xa5}, n+Padding+1)
		other := make([]byte, 0, Padding)
		text := memory[: n : n+Padding]
		require.Zero(t, testing.AllocsPerRun(1, func() { Sum(&x, &y, text, other) }))
		require.Equal(t, byte(0xa5), memory[n+Padding])
	}
}

func BenchmarkSum(b *testing.B) {
	var x, y [sha256.Size]byte
	first, second := make([]byte, 80, 200), make([]byte, 70, 200)
	for name, sum := range map[string]func(x, y *[sha256.Size]byte, a, b []byte){"pair": Sum, "standard": standard} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sum(&x, &y, first, second)
			}
		})
	}
}
