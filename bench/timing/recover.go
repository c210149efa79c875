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

// A Recovery is how far the attack on a comparison that ends early came.
type Recovery struct {
	Message  []byte // chosen by the attacker
	Tag      []byte // found, in hexadecimal
	Samples  int    // measured
	Ops      int    // tokens presented: samples times operations in one
	StepBack int    // how often a digit was found wrong and given up
	Verifies bool   // the server took the forged token
}

// digits are the values that a character of a tag can have, and tagDigits the
// number of them.
const (
	digits    = "0123456789abcdef"
	tagDigits = 2 * tagSize
)

const (
	// effort is the number of times that each candidate for a digit is measured
	// in the first round of the race; the rounds after it are as long.
	effort = 600
	// A digit is confirmed if its difference from others is confirmSigma standard
	// errors from zero. It is looked at confirmLooks times at most, each time
	// after confirmEfforts more pairs for each measurement of an effort.
	confirmEfforts, confirmLooks, confirmSigma = 7, 12, 5
)

// ErrTooManySamples says that a recovery was given up.
var ErrTooManySamples = errors.New("the tag was not found within the number of samples")

// A hexServer takes tags in hexadecimal, in upper or lower case, and compares them
// digit by digit until one differs. That shows some nanoseconds per digit. The
// bare loop of [earlyExit] shows some 0.2 ns per byte, and at some places less:
// the judge finds that over a whole tag, and this attack does not.
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

// Recover forges a token against a [hexServer]. It knows the message, presents
// tags, and uses only the time of their refusal until the last digit. The key of
// the server is drawn from seed and used by the server alone. Recover gives up
// after most samples. progress is called with the number of digits known.
func Recover(seed uint64, most int, progress func(known, of int, r Recovery)) (Recovery, error) {
	defer quiet()()
	s := newSampler(seed, full)
	server := &hexServer{verifier: newVerifier(s.random, shortMessage, nil)}
	presented := make([]byte, tagDigits)
	a := &attacker{
		random: s.random, guess: bytes.Repeat([]byte("0"), tagDigits), most: most, effort: effort,
		progress: progress, accepts: server.accepts,
	}
	a.ops = s.operations(func() { server.accepts(a.guess) }, s.clock)
	a.time = func(tag []byte) float64 {
		copy(presented, tag)
		start := now()
		for range a.ops {
			server.accepts(presented)
		}
		return float64(now()-start) / float64(a.ops)
	}
	err := a.recover()
	a.Message, a.Tag = server.message, a.guess
	return a.Recovery, err
}

// An attacker has a guess of the tag whose first digits it believes to know.
type attacker struct {
	Recovery
	random   *rand.Rand
	guess    []byte
	most     int
	effort   int
	ops      int                      // tokens presented in one sample
	time     func(tag []byte) float64 // time of refusing it, per operation: all that the attacker sees
	accepts  func(tag []byte) bool    // the server's answer
	progress func(known, of int, r Recovery)
}

// recover finds digit after digit. It steps back if a digit is not confirmed, and
// lets the answer of the server decide the last one.
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

// stepBack gives the digit before known up.
func (a *attacker) stepBack(known int) int {
	a.StepBack++
	return max(0, known-1)
}

// last tries every value of the last digit.
func (a *attacker) last() bool {
	for _, v := range []byte(digits) {
		a.guess[tagDigits-1] = v
		a.Ops++
		if a.accepts(a.guess) {
			return true
		}
	}
	return false
}

// A candidate is a value of the digit in question with its times so far.
type candidate struct {
	value byte
	times []float64
}

// race returns the value of the digit at place that is refused last: in each
// round the slower half of the candidates stays.
func (a *attacker) race(place int) byte {
	left := make([]candidate, len(digits))
	for i := range left {
		left[i].value = digits[i]
	}
	for len(left) > 1 {
		for range a.effort * len(digits) / len(left) {
			a.random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
			for i := range left {
				left[i].times = append(left[i].times, a.with(place, left[i].value))
			}
		}
		slices.SortFunc(left, func(c, d candidate) int { return cmp.Compare(middle(d.times), middle(c.times)) })
		left = left[:len(left)/2]
	}
	return left[0].value
}

// with returns the time of refusing the guess with one digit set.
func (a *attacker) with(place int, value byte) float64 {
	kept := a.guess[place]
	a.guess[place] = value
	t := a.time(a.guess)
	a.guess[place] = kept
	a.Samples++
	a.Ops += a.ops
	return t
}

// confirmed measures the digit found against other values, in pairs, until the
// difference is beyond doubt or more pairs would not help.
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

// difference returns how much later the guess is refused than with another
// value at place, measured in an order drawn by lot.
func (a *attacker) difference(place int) float64 {
	other := a.guess[place]
	for other == a.guess[place] {
		other = digits[a.random.IntN(len(digits))]
	}
	if a.random.Uint64()&1 == 1 {
		t := a.with(place, other)
		return a.with(place, a.guess[place]) - t
	}
	t := a.with(place, a.guess[place])
	return t - a.with(place, other)
}

// meanAndError returns the mean of the inner values of x, which it sorts, with
// its standard error.
func meanAndError(x []float64) (mean, err float64) {
	mean = middle(x)
	sum := 0.0
	kept := inner(x)
	for _, d := range kept {
		sum += (d - mean) * (d - mean)
	}
	// The outer values, pulled in to the ends of the inner ones, count as well.
	low, high := kept[0]-mean, kept[len(kept)-1]-mean
	sum += float64(len(x)-len(kept)) / 2 * (low*low + high*high)
	share := float64(len(kept)) / float64(len(x))
	return mean, math.Sqrt(sum/float64(len(x))) / (share * math.Sqrt(float64(len(x))))
}

// inner returns x, which it sorts, without its lowest and its highest fifth.
func inner(x []float64) []float64 {
	slices.Sort(x)
	return x[len(x)/5 : len(x)-len(x)/5]
}

// middle returns the mean of the inner values of x, which it sorts.
func middle(x []float64) float64 {
	sum := 0.0
	kept := inner(x)
	for _, v := range kept {
		sum += v
	}
	return sum / float64(len(kept))
}
