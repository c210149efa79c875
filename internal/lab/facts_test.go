package lab_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

// TestBirthdayTokens draws as many short nonces as the bound allows, many times. It compares the share of
// runs with a repeated nonce with the risk.
func TestBirthdayTokens(t *testing.T) {
	runs := 4000
	if testing.Short() {
		runs = 400
	}
	random := rand.New(rand.NewPCG(1, 18))
	for _, bits := range []int{16, 20, 24} {
		for _, risk := range []float64{-3, -5} {
			n := int(math.Exp2(lab.BirthdayTokens(bits, risk)))
			repeated := 0
			for range runs {
				seen := make(map[uint32]bool, n)
				for range n {
					nonce := random.Uint32() >> (32 - bits)
					if seen[nonce] {
						repeated++
						break
					}
					seen[nonce] = true
				}
			}
			// The bound exceeds the probability p by at most p/2, and the share is within five standard
			// deviations of p.
			p := math.Exp2(risk)
			noise := 5 * math.Sqrt(p*(1-p)/float64(runs))
			share := float64(repeated) / float64(runs)
			require.Less(t, share, p+noise, "%d bits, 2^%v: %d nonces", bits, risk, n)
			require.Greater(t, share, p*0.85-noise, "%d bits, 2^%v: %d nonces", bits, risk, n)

		}
	}
}

// TestLog2Forgeries guesses short tags as often as the bound allows, many times. It compares the share of
// runs with a right guess with the risk.
func TestLog2Forgeries(t *testing.T) {
	require.Equal(t, 96.0, (&lab.Facts{ForgeryBits: 128}).Log2Forgeries(1<<20))
	require.InDelta(t, 95-math.Log2(66), (&lab.Facts{ForgeryBits: 127, ForgeryPerBlock: true}).Log2Forgeries(1<<10), 1e-9)
	require.Equal(t, math.Inf(1), (&lab.Facts{}).Log2Forgeries(64))

	const runs, bits, risk = 20_000, 10, -3
	random := rand.New(rand.NewPCG(2, 18))
	accepted := 0
	for range runs {
		tag := random.Uint32() & (1<<bits - 1)
		for range int(math.Exp2(lab.TagGuesses(bits, risk))) {
			if random.Uint32()&(1<<bits-1) == tag {
				accepted++
				break
			}
		}
	}
	// Guesses that may repeat are right a little less often than the bound says.
	share := float64(accepted) / runs
	require.Less(t, share, math.Exp2(risk))
	require.Greater(t, share, math.Exp2(risk)*0.85)
}

func TestTokensPerKey(t *testing.T) {
	for _, c := range []struct {
		name    string
		facts   lab.Facts
		payload int
		want    float64
	}{
		{"no limit", lab.Facts{}, 64, math.Inf(1)},
		{"birthday bound", lab.Facts{NonceBits: 192}, 64, 80.5},
		{"lower number of tokens", lab.Facts{NonceBits: 96, Log2Tokens: 32}, 64, 32},
		{"bytes", lab.Facts{NonceBits: 128, Log2Bytes: 52}, 1 << 10, 42},
		{"bytes, no payload", lab.Facts{Log2Bytes: 52}, 0, 48},
		{"bytes, a block and a byte", lab.Facts{Log2Bytes: 52}, 17, 47},
	} {
		require.Equal(t, c.want, c.facts.TokensPerKey(c.payload), c.name)
	}
}

// TestTokenSizesDoNotWrap checks that the size of a token too large for memory is not smaller than that of
// its payload.
func TestTokenSizesDoNotWrap(t *testing.T) {
	sized := 0
	for _, d := range catalog.All() {
		size := lab.HooksOf(d).TokenSize
		if size == nil {
			continue
		}
		sized++
		for n := 1; n > 0; n *= 2 {
			require.Greater(t, size(n-1), n-1, d.Name)
		}
		require.Equal(t, math.MaxInt, size(math.MaxInt), d.Name)
	}
	require.NotZero(t, sized)
}
