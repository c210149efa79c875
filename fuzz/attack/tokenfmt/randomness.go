package tokenfmt

import (
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"strings"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/stat/distuv"
)

// A RandomnessReport holds the results of tests on the bytes of many tokens for one state.
type RandomnessReport struct {
	Tokens int
	From   int // offset of the free bytes, which take many values
	Bytes  int
	// MinEntropy is a lower bound on the min-entropy per free byte in bits, with 99% confidence
	// (NIST SP 800-90B, section 6.3.1). EffectiveBits is the sum over the free bytes, limited
	// by the observed collisions.
	MinEntropy    float64
	EffectiveBits float64
	Collisions    int // pairs of tokens with equal free bytes
	Tests         []RandomnessTest
}

// A RandomnessTest is one statistical test.
type RandomnessTest struct {
	Name string
	P    float64 // the probability that random bytes give a result at least as extreme
}

// falseAlarm is the probability with which one test rejects random bytes.
const falseAlarm = 1e-10

// String returns the report as one line.
func (r RandomnessReport) String() string {
	return fmt.Sprintf("%d tokens with %d free bytes: at least %.2f bits of min-entropy a byte, %d collisions", r.Tokens, r.Bytes, r.MinEntropy, r.Collisions)
}

// Failed returns the tests that random bytes would almost never fail, or "".
func (r RandomnessReport) Failed() string {
	var failed []string
	for _, t := range r.Tests {
		if t.P < falseAlarm {
			failed = append(failed, fmt.Sprintf("%s (p = %.1e)", t.Name, t.P))
		}
	}
	return strings.Join(failed, ", ")
}

// Randomness tests decoded tokens of one length for one state. It examines every run of free
// bytes and returns the report of the least random run. A free byte takes at least half of the
// 256 values. Randomness reports false if there are fewer than 1,000 tokens or fewer than 4
// consecutive free bytes.
func Randomness(raws [][]byte) (RandomnessReport, bool) {
	var worst RandomnessReport
	found := false
	for _, r := range RandomRuns(raws) {
		if !found || r.least() < worst.least() {
			worst, found = r, true
		}
	}
	return worst, found
}

// RandomRuns is Randomness, but returns a report for each run of free bytes.
func RandomRuns(raws [][]byte) (all []RandomnessReport) {
	if len(raws) < MinTokens {
		return nil
	}
	for _, run := range freeRuns(raws) {
		all = append(all, randomnessOf(raws, run[0], run[1]))
	}
	return all
}

// MinTokens is the number of tokens that the tests need.
const MinTokens = 1000

// least returns the smallest probability of all tests.
func (r RandomnessReport) least() float64 {
	p := 1.0
	for _, t := range r.Tests {
		p = math.Min(p, t.P)
	}
	return p
}

// randomnessOf tests one run of free bytes.
func randomnessOf(raws [][]byte, from, n int) RandomnessReport {
	r := RandomnessReport{Tokens: len(raws), From: from, Bytes: n}
	var stream []byte
	for _, raw := range raws {
		stream = append(stream, raw[from:from+min(n, 64)]...)
	}
	r.MinEntropy = r.minEntropy(raws)
	r.EffectiveBits = r.MinEntropy * float64(n)
	r.Collisions = countCollisions(raws, from, n)
	r.Tests = []RandomnessTest{testMonobit(stream), testPoker(stream), bitRuns(stream), testSpectrum(stream), testColumns(raws, from, min(n, 64)), testSerial(raws, from, min(n, 64))}
	if r.Collisions > 0 && n >= 8 {
		expected := float64(len(raws)) * float64(len(raws)) / 2 / math.Pow(256, float64(min(n, 100)))
		r.Tests = append(r.Tests, RandomnessTest{"collision", math.Min(1, expected)})
		r.EffectiveBits = math.Min(r.EffectiveBits, 2*math.Log2(float64(len(raws)))-1-math.Log2(float64(r.Collisions)))
	}
	return r
}

// freeRuns returns the offset and the length of each run of at least 4 free bytes.
func freeRuns(raws [][]byte) (runs [][2]int) {
	start := -1
	for i := 0; i <= len(raws[0]); i++ {
		if i < len(raws[0]) && distinctBytes(raws, i) >= 128 {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= 4 {
			runs = append(runs, [2]int{start, i - start})
		}
		start = -1
	}
	return runs
}

func distinctBytes(raws [][]byte, i int) int {
	var seen [256]bool
	n := 0
	for _, raw := range raws {
		if !seen[raw[i]] {
			seen[raw[i]] = true
			n++
		}
	}
	return n
}

// minEntropy returns the smallest estimate of all columns, each based on the most common value.
func (r RandomnessReport) minEntropy(raws [][]byte) float64 {
	least := 8.0
	for i := r.From; i < r.From+r.Bytes; i++ {
		var count [256]int
		most := 0
		for _, raw := range raws {
			count[raw[i]]++
			most = max(most, count[raw[i]])
		}
		p := float64(most) / float64(len(raws))
		upper := math.Min(1, p+2.576*math.Sqrt(p*(1-p)/float64(len(raws)-1)))
		least = math.Min(least, -math.Log2(upper))
	}
	return least
}

// countCollisions returns the number of pairs of tokens with equal free bytes.
func countCollisions(raws [][]byte, from, n int) int {
	seen := map[string]int{}
	pairs := 0
	for _, raw := range raws {
		key := string(raw[from : from+n])
		pairs += seen[key]
		seen[key]++
	}
	return pairs
}

// normalProbability returns the two-sided probability of a standard normal deviate.
func normalProbability(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// testMonobit counts the bits that are set (NIST SP 800-22, section 2.1).
func testMonobit(stream []byte) RandomnessTest {
	ones := 0
	for _, b := range stream {
		ones += bits.OnesCount8(b)
	}
	n := float64(8 * len(stream))
	return RandomnessTest{"monobit", normalProbability((2*float64(ones) - n) / math.Sqrt(n))}
}

// testPoker counts the 16 values of half bytes (FIPS 140-1, section 4.11.1).
func testPoker(stream []byte) RandomnessTest {
	var count [16]float64
	for _, b := range stream {
		count[b>>4]++
		count[b&15]++
	}
	return RandomnessTest{"poker", uniformProbability(count[:], float64(2*len(stream)))}
}

// uniformProbability returns the chi-squared probability of counts if all values are equally
// likely.
func uniformProbability(count []float64, total float64) float64 {
	expected, x := total/float64(len(count)), 0.0
	for _, c := range count {
		x += (c - expected) * (c - expected) / expected
	}
	return distuv.ChiSquared{K: float64(len(count) - 1)}.Survival(x)
}

// bitRuns counts the runs of equal bits (NIST SP 800-22, section 2.3).
func bitRuns(stream []byte) RandomnessTest {
	n, ones, runs, last := 0.0, 0.0, 0.0, byte(2)
	for _, b := range stream {
		for k := 7; k >= 0; k-- {
			bit := b >> k & 1
			n++
			ones += float64(bit)
			if bit != last {
				runs++
			}
			last = bit
		}
	}
	p := ones / n
	if p == 0 || p == 1 {
		return RandomnessTest{"runs", 0}
	}
	return RandomnessTest{"runs", math.Erfc(math.Abs(runs-2*n*p*(1-p)) / (2 * math.Sqrt(2*n) * p * (1 - p)))}
}

// testSpectrum looks for periodic patterns in the first 8,192 bits (NIST SP 800-22, section
// 2.6).
func testSpectrum(stream []byte) RandomnessTest {
	bits := min(8192, 8*len(stream))
	size := 1
	for size*2 <= bits {
		size *= 2
	}
	signs := make([]float64, size)
	for i := range signs {
		signs[i] = 2*float64(stream[i/8]>>(7-i%8)&1) - 1
	}
	limit := math.Sqrt(math.Log(1/0.05) * float64(size))
	below := 0.0
	for _, c := range fourier.NewFFT(size).Coefficients(nil, signs)[:size/2] {
		if cmplx.Abs(c) < limit {
			below++
		}
	}
	expected := 0.95 * float64(size) / 2
	return RandomnessTest{"spectral", normalProbability((below - expected) / math.Sqrt(float64(size)*0.95*0.05/4))}
}

// testColumns tests the distribution of each byte over all tokens. It returns the smallest
// probability, corrected for the number of bytes.
func testColumns(raws [][]byte, from, n int) RandomnessTest {
	least := 1.0
	for i := from; i < from+n; i++ {
		var count [256]float64
		for _, raw := range raws {
			count[raw[i]]++
		}
		least = math.Min(least, uniformProbability(count[:], float64(len(raws))))
	}
	return RandomnessTest{"values of a byte", math.Min(1, least*float64(n))}
}

// testSerial tests the differences of each byte between consecutive tokens, of which a counter
// has few. It returns the smallest probability, corrected for the number of bytes.
func testSerial(raws [][]byte, from, n int) RandomnessTest {
	least := 1.0
	for i := from; i < from+n; i++ {
		var count [256]float64
		for k := 1; k < len(raws); k++ {
			count[raws[k][i]-raws[k-1][i]]++
		}
		least = math.Min(least, uniformProbability(count[:], float64(len(raws)-1)))
	}
	return RandomnessTest{"differences of consecutive tokens", math.Min(1, least*float64(n))}
}
