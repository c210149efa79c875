//go:build !purego

package sha256pair

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/segmentio/asm/cpu"
	"github.com/segmentio/asm/cpu/x86"
)

var hasInstructions = cpu.X86.Has(x86.AVX) && hasSHA()

// hasSHA reports whether the processor has the SHA extensions.
func hasSHA() bool

// A state has the words of a hash value in the order of the instructions, two in each
// number: FE, BA, HG and DC.
type state [4]uint64

// put writes the digest that a state is.
func (s *state) put(x *[sha256.Size]byte) {
	binary.BigEndian.PutUint64(x[0:], s[1])
	binary.BigEndian.PutUint64(x[8:], s[3])
	binary.BigEndian.PutUint64(x[16:], s[0])
	binary.BigEndian.PutUint64(x[24:], s[2])
}

func sum(x, y *[sha256.Size]byte, a, b []byte) {
	if !hasInstructions {
		standard(x, y, a, b)
		return
	}
	a, b = pad(a), pad(b)
	s, t := initial, initial
	both := min(len(a), len(b))
	blocks(&s, &t, &a[0], &b[0], both/sha256.BlockSize, &constants)
	if rest := a[both:]; len(rest) > 0 {
		blocks(&s, &state{}, &rest[0], &rest[0], len(rest)/sha256.BlockSize, &constants)
	}
	if rest := b[both:]; len(rest) > 0 {
		blocks(&t, &state{}, &rest[0], &rest[0], len(rest)/sha256.BlockSize, &constants)
	}
	s.put(x)
	t.put(y)
}

// pad appends the padding of FIPS 180-4, section 5.1.1.
func pad(text []byte) []byte {
	n := len(text)
	end := (n+lengthSize)/sha256.BlockSize*sha256.BlockSize + sha256.BlockSize
	text = slices.Grow(text, Padding)[:n+Padding]
	*(*[Padding]byte)(text[n:]) = [Padding]byte{0x80}
	binary.BigEndian.PutUint64(text[end-lengthSize:], 8*uint64(n))
	return text[:end]
}

// blocks adds n blocks at p to the state s, and n blocks at q to t.
//
//go:noescape
func blocks(s, t *state, p, q *byte, n int, k *[64]uint32)

// initial and constants are the first 32 bits of the fractional parts of the square
// roots of 8 primes and of the cube roots of 64.
var initial, constants = func() (h state, k [64]uint32) {
	for n, i := 2, 0; i < len(k); n++ {
		if !isPrime(n) {
			continue
		}
		if i < 8 {
			h[[8]int{1, 1, 3, 3, 0, 0, 2, 2}[i]] |= uint64(fraction(math.Sqrt(float64(n)))) << (32 - i%2*32)
		}
		k[i] = fraction(math.Cbrt(float64(n)))
		i++
	}
	return h, k
}()

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

func fraction(x float64) uint32 { return uint32((x - math.Floor(x)) * (1 << 32)) }
