package leak

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
)

// A Recovery is how far the attack on a byte-wise comparison came.
type Recovery struct {
	Message  []byte // chosen by the attacker
	Tag      []byte // found
	Samples  int    // measured
	Ops      int    // tokens presented: samples times operations in one
	StepBack int    // how often a byte was found wrong and given up
	Verifies bool   // the server took the forged token
}

const (
	// effort is the number of times that each candidate for a byte is measured
	// in the first round of the race; the rounds after it are as long.
	effort = 600
	// A byte is confirmed when its difference from others is confirmSigma
	// standard errors from zero, looked at confirmLooks times at most, each time
	// after confirmEfforts more pairs for each measurement of an effort.
	confirmEfforts, confirmLooks, confirmSigma = 7, 12, 5
)

// ErrTooManySamples says that a recovery was given up.
var ErrTooManySamples = errors.New("sealab: the tag was not found within the number of samples")

// Recover forges a token against a server that compares tags byte by byte and
// stops at the first difference ([earlyExit]): it knows the message that it
// wants accepted, presents tags, and looks at the time of their refusal and at
// nothing else until the last byte. The server's key is drawn from seed and used
// by the server alone. Recover gives up after most samples. progress is called
// with the number of bytes known.
func Recover(seed uint64, most int, progress func(known int, r Recovery)) (Recovery, error) {
	defer quiet()()
	s := newSampler(seed)
	server := newVerifier(s.random, shortMessage, earlyExit)
	presented := make([]byte, tagSize)
	a := &attacker{
		random: s.random, guess: randomBytes(s.random, tagSize), most: most, progress: progress,
		accepts: func(tag []byte) bool { return server.equal(server.tag(), tag) },
	}
	a.effort = effort
	a.ops = operations(func() { server.check(a.guess) }, s.clock)
	a.time = func(tag []byte) float64 {
		copy(presented, tag)
		start := now()
		for range a.ops {
			server.check(presented)
		}
		return float64(now()-start) / float64(a.ops)
	}
	err := a.recover()
	a.Message, a.Tag = server.message, a.guess
	return a.Recovery, err
}

// An attacker has a guess of the tag whose first bytes it believes to know.
type attacker struct {
	Recovery
	random   *rand.Rand
	guess    []byte
	most     int
	effort   int
	ops      int                      // tokens presented in one sample
	time     func(tag []byte) float64 // time of refusing it, per operation: all that the attacker sees
	accepts  func(tag []byte) bool    // the server's answer
	progress func(known int, r Recovery)
}

// recover finds byte after byte, steps back where a byte does not stand up to a
// second look, and lets the server's answer decide the last one.
func (a *attacker) recover() error {
	failed := 0
	for known := 0; ; {
		if a.Samples > a.most {
			return ErrTooManySamples
		}
		a.progress(known, a.Recovery)
		if known == tagSize-1 {
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

// stepBack gives the byte before known up.
func (a *attacker) stepBack(known int) int {
	a.StepBack++
	return max(0, known-1)
}

// last tries every value of the last byte.
func (a *attacker) last() bool {
	for v := range 256 {
		a.guess[tagSize-1] = byte(v)
		a.Ops++
		if a.accepts(a.guess) {
			return true
		}
	}
	return false
}

// A candidate is a value of the byte in question with its times so far.
type candidate struct {
	value byte
	times []float64
}

// race returns the value of the byte at place that is refused last: in each
// round the slower half of the candidates stays.
func (a *attacker) race(place int) byte {
	left := make([]candidate, 256)
	for v := range left {
		left[v].value = byte(v)
	}
	for len(left) > 1 {
		for range a.effort * 256 / len(left) {
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

// with returns the time of refusing the guess with one byte set.
func (a *attacker) with(place int, value byte) float64 {
	kept := a.guess[place]
	a.guess[place] = value
	t := a.time(a.guess)
	a.guess[place] = kept
	a.Samples++
	a.Ops += a.ops
	return t
}

// confirmed measures the byte found against other values, in pairs, until the
// difference is beyond doubt or there is no use in going on.
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
	other := a.guess[place] + byte(1+a.random.IntN(255))
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
