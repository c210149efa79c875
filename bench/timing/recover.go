package timing

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"unicode"
)

// A Recovery describes the progress of an attack on an early-exit comparison.
type Recovery struct {
	Message  []byte // chosen by the attacker
	Tag      []byte // found so far, in hexadecimal
	Samples  int    // measured
	Ops      int    // tokens presented: samples times operations per sample
	StepBack int    // how often a digit was found wrong and dropped
	Verifies bool   // the server accepted the forged token
}

// hexDigits are the possible characters of a tag, and tagDigits is the number of characters in a tag.
const (
	hexDigits = "0123456789abcdef"
	tagDigits = 2 * tagSize
)

const (
	// firstRoundEffort is the number of measurements of each candidate for a digit in the first round of
	// the race. Later rounds take as many measurements in total.
	firstRoundEffort = 600
	// A digit is confirmed if its difference from others exceeds confirmSigma standard errors. There are
	// at most confirmLooks looks. Each takes confirmEfforts times firstRoundEffort more pairs.
	confirmEfforts, confirmLooks, confirmSigma = 7, 12, 5
)

// ErrTooManySamples means that Recover gave up.
var ErrTooManySamples = errors.New("the tag was not found within the number of samples")

// A hexServer accepts tags in hexadecimal, in upper or lower case. It compares them digit by digit until
// one differs, which leaks some nanoseconds per digit. The bare loop of [earlyExit] leaks some 0.2 ns per
// byte, and less at some positions. The judge detects that over a whole tag, but this attack cannot.
type hexServer struct {
	*verifier
	text []byte
}

func (s *hexServer) accepts(tag []byte) bool {
	s.text = hex.AppendEncode(s.text[:0], s.tag())
	for i := range s.text {
		if unicode.ToLower(rune(s.text[i])) != unicode.ToLower(rune(tag[i])) {
			s.refused++
			return false
		}
	}
	return true
}

// Recover forges a token against a [hexServer]. It knows the message and presents tags. Until the last
// digit, it uses only the time of their refusal. The server's key is drawn from seed, and only the server
// uses it. Recover gives up after most samples. It calls progress with the number of known digits.
func Recover(seed uint64, most int, progress func(known, of int, r Recovery)) (Recovery, error) {
	defer quietProcess()()
	s := newSampler(seed, fullPrecision)
	server := &hexServer{verifier: newVerifier(s.random, shortMessage, nil)}
	presented := make([]byte, tagDigits)
	a := &attacker{
		random: s.random, guess: bytes.Repeat([]byte("0"), tagDigits), most: most, effort: firstRoundEffort,
		progress: progress, accepts: server.accepts,
	}
	a.ops = s.operations(func() { server.accepts(a.guess) }, s.clock)
	a.time = func(tag []byte) float64 {
		copy(presented, tag)
		start := sinceEpoch()
		for range a.ops {
			server.accepts(presented)
		}
		return float64(sinceEpoch()-start) / float64(a.ops)
	}
	err := a.recover()
	a.Message, a.Tag = server.message, a.guess
	return a.Recovery, err
}

// An attacker holds a guess of the tag and believes that its first digits are right.
type attacker struct {
	Recovery
	random   *rand.Rand
	guess    []byte
	most     int
	effort   int
	ops      int                      // tokens presented per sample
	time     func(tag []byte) float64 // time to refuse the tag, per operation: the attacker's only observation
	accepts  func(tag []byte) bool    // the server's answer
	progress func(known, of int, r Recovery)
}

// recover finds one digit after another. It steps back if a digit is not confirmed. The server's answer
// decides the last digit.
func (a *attacker) recover() error {
	failed := 0
	for known := 0; ; {
		if a.Samples > a.most {
			return ErrTooManySamples
		}
		a.progress(known, tagDigits, a.Recovery)
		if known == tagDigits-1 {
			if a.last() {
				a.Verifies = true
				return nil
			}
			known, failed = a.stepBack(known), 0
			continue
		}
		a.guess[known] = a.race(known)
		switch {
		case a.confirmed(known):
			known, failed = known+1, 0
		case failed > 0:
			known, failed = a.stepBack(known), 0
		default:
			failed++
		}
	}
}

// stepBack drops the last known digit.
func (a *attacker) stepBack(known int) int {
	a.StepBack++
	return max(0, known-1)
}

// last tries every value of the last digit.
func (a *attacker) last() bool {
	for _, v := range []byte(hexDigits) {
		a.guess[tagDigits-1] = v
		a.Ops++
		if a.accepts(a.guess) {
			return true
		}
	}
	return false
}

// A candidate is a possible value of the current digit, with its times so far.
type candidate struct {
	value byte
	times []float64
}

// race returns the value of the digit at place that takes longest to refuse. Each round keeps the slower
// half of the candidates.
func (a *attacker) race(place int) byte {
	left := make([]candidate, len(hexDigits))
	for i := range left {
		left[i].value = hexDigits[i]
	}
	for len(left) > 1 {
		for range a.effort * len(hexDigits) / len(left) {
			a.random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			for i := range left {
				left[i].times = append(left[i].times, a.with(place, left[i].value))
			}
		}
		slices.SortFunc(left, func(c, d candidate) int { return cmp.Compare(trimmedMean(d.times), trimmedMean(c.times)) })
		left = left[:len(left)/2]
	}
	return left[0].value
}

// with returns the time to refuse the guess with one digit replaced.
func (a *attacker) with(place int, value byte) float64 {
	kept := a.guess[place]
	a.guess[place] = value
	t := a.time(a.guess)
	a.guess[place] = kept
	a.Samples++
	a.Ops += a.ops
	return t
}

// confirmed compares the found digit with other values, in pairs, until the difference is clear or the
// looks are used up.
func (a *attacker) confirmed(place int) bool {
	var differences []float64
	for range confirmLooks {
		for range confirmEfforts * a.effort {
			differences = append(differences, a.difference(place))
		}
		if mean, err := meanAndError(differences); mean > confirmSigma*err {
			return true
		}
	}
	return false
}

// difference returns how much longer the guess takes to refuse than another value at place. The order of
// the two is random.
func (a *attacker) difference(place int) float64 {
	other := a.guess[place]
	for other == a.guess[place] {
		other = hexDigits[a.random.IntN(len(hexDigits))]
	}
	if a.random.Uint64()&1 == 1 {
		t := a.with(place, other)
		return a.with(place, a.guess[place]) - t
	}
	t := a.with(place, a.guess[place])
	return t - a.with(place, other)
}

// meanAndError returns the trimmed mean of x and its standard error. It sorts x.
func meanAndError(x []float64) (mean, err float64) {
	mean = trimmedMean(x)
	sum := 0.0
	kept := middleFifths(x)
	for _, d := range kept {
		sum += (d - mean) * (d - mean)
	}
	// The variance is that of the winsorised sample: outer values count as the nearest inner one.
	low, high := kept[0]-mean, kept[len(kept)-1]-mean
	sum += float64(len(x)-len(kept)) / 2 * (low*low + high*high)
	share := float64(len(kept)) / float64(len(x))
	return mean, math.Sqrt(sum/float64(len(x))) / (share * math.Sqrt(float64(len(x))))
}

// middleFifths sorts x and returns it without its lowest and highest fifth.
func middleFifths(x []float64) []float64 {
	slices.Sort(x)
	return x[len(x)/5 : len(x)-len(x)/5]
}

// trimmedMean returns the trimmed mean of x, which it sorts.
func trimmedMean(x []float64) float64 {
	sum := 0.0
	kept := middleFifths(x)
	for _, v := range kept {
		sum += v
	}
	return sum / float64(len(kept))
}
