package timing

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash"
	"math/rand/v2"

	"sealab/internal/runfile"
)

// The lengths in bytes of the messages that controls authenticate. With a long one, a sample is a single
// operation.
const (
	shortMessage = 200
	longMessage  = 4096
)

// delayLadder holds the delays in nanoseconds that calibrated controls add. The judge estimates the shift
// between passes from delays up to 10 ns.
var delayLadder = []float64{1, 2, 3, 5, 7, 10, 20, 50, 200}

// Controls returns the comparisons that every run measures beside its designs: subjects that leak, which
// the judge must find, and subjects that do not leak.
func Controls() []Comparison {
	return append(append(leakingControls(), Ladder()...), cleanControls()...)
}

func leakingControls() []Comparison {
	return []Comparison{
		tagEndsControl("early-exit", runfile.Leaks, earlyExit),
		newControl("tail-only", runfile.Leaks, markControl(longMessage, tailOnly)),
		newControl("table-look-up", runfile.Leaks, tableLookUp),
		newControl("allocation", runfile.Leaks, markControl(shortMessage, allocateIfMarked)),
	}
}

func cleanControls() []Comparison {
	return []Comparison{
		SameClass("same-class"),
		newControl("permuted-labels", runfile.Clean, permutedLabels),
		tagEndsControl("hmac-equal", runfile.Clean, hmac.Equal),
		tagEndsControl("constant-time-compare", runfile.Clean, func(want, got []byte) bool {
			return subtle.ConstantTimeCompare(want, got) == 1
		}),
	}
}

// newControl returns a comparison for the control called name.
func newControl(name string, expect runfile.Expectation, prepare func(*rand.Rand) (*classPair, error)) Comparison {
	return Comparison{prepare: prepare, Probe: runfile.Probe{
		Subject: "control-" + name, Pair: "control", A: "left alone", B: "with the added cause",
		Tells: "nothing: a control", Channel: "process", Expect: expect,
	}}
}

// tagEndsControl returns the control of a comparer, with tags that are wrong in their first or last byte.
func tagEndsControl(name string, expect runfile.Expectation, equal comparer) Comparison {
	t := newControl(name, expect, func(random *rand.Rand) (*classPair, error) {
		v := newVerifier(random, shortMessage, equal)
		return sameOperation(v.wrongAt(random, 0), v.wrongAt(random, tagSize-1), v.check), nil
	})
	t.A, t.B = "tag wrong in its first byte", "tag wrong in its last byte"
	return t
}

// SameClass returns a control whose two classes are identical, including the addresses of their inputs.
func SameClass(name string) Comparison {
	return newControl(name, runfile.Clean, func(random *rand.Rand) (*classPair, error) {
		v := newVerifier(random, shortMessage, hmac.Equal)
		pool := v.wrongAt(random, 0)
		return sameOperation(pool, pool, v.check), nil
	})
}

// permutedLabels is a leaking verifier whose classes are mixed at random, so that the labels do not show
// the leak.
func permutedLabels(random *rand.Rand) (*classPair, error) {
	v := newVerifier(random, shortMessage, earlyExit)
	mixed := append(v.wrongAt(random, 0), v.wrongAt(random, tagSize-1)...)
	return sameOperation(mixed, mixed, v.check), nil
}

// Ladder returns the calibrated controls.
func Ladder() []Comparison {
	step := stepCost()
	var comparisons []Comparison
	for _, added := range delayLadder {
		steps := max(1, int(added/step+0.5))
		delay := func(mark int, result byte) byte { return spin(coverSteps+mark*steps, result) }
		t := newControl(fmt.Sprintf("delay-%gns", added), runfile.Leaks, markControl(shortMessage, delay))
		t.Added = float64(steps) * step
		comparisons = append(comparisons, t)
	}
	return comparisons
}

// runtimeZero is 0. It is a variable so that the compiler cannot fold it.
var runtimeZero byte

// markControl returns a control whose inputs differ in a mark: 0 for A and 1 for B. The function added
// acts on the mark. It starts from a byte of the operation's result, and the next operation depends on its
// return value. The processor therefore cannot overlap two operations and hide the delay.
func markControl(size int, added func(mark int, result byte) byte) func(*rand.Rand) (*classPair, error) {
	return func(random *rand.Rand) (*classPair, error) {
		v := newVerifier(random, size, hmac.Equal)
		do := func(tag []byte) {
			v.check(tag)
			v.message[0] ^= added(int(tag[tagSize]), v.sum[0]) & runtimeZero
		}
		return sameOperation(v.marked(random, 0), v.marked(random, 1), do), nil
	}
}

// coverSteps is the number of steps that both A and B take first. The next operation begins with
// independent work, which overlaps these steps. If that work is shorter than these steps, every further
// step counts.
const coverSteps = 3 * stepsPerTurn

// tailCalls is the state of tailOnly's random number generator.
var tailCalls uint64

// tailOnly delays one in ten calls of B by some 300 ns.
func tailOnly(mark int, result byte) byte {
	tailCalls = tailCalls*6364136223846793005 + 1442695040888963407
	if tailCalls>>33%10 != 0 {
		return 0
	}
	return spin(mark*400, result)
}

var allocatedBuffer = make([]byte, 64)

// allocateIfMarked allocates only for B.
func allocateIfMarked(mark int, _ byte) byte {
	if mark == 1 {
		allocatedBuffer = make([]byte, 64)
	}
	return allocatedBuffer[0]
}

const (
	tableEntries = 256
	// tableStride maps all entries of the table to one cache set, which cannot hold them all.
	tableStride = 4096
)

// tableLookUp looks up table entries at indexes given by the key. The key of A gives the same index each
// time.
func tableLookUp(random *rand.Rand) (*classPair, error) {
	v := newVerifier(random, shortMessage, hmac.Equal)
	table := make([]byte, tableEntries*tableStride)
	constant, varied := v.wrongAt(random, 0), v.wrongAt(random, 0)
	for i := range constant {
		constant[i] = append(constant[i], make([]byte, 32)...)
		varied[i] = append(varied[i], randomBytes(random, 32)...)
	}
	do := func(input []byte) {
		v.check(input)
		at := byte(0)
		for _, k := range input[tagSize+1:] {
			at = table[int(at^k)*tableStride]
		}
		v.refused += int(at)
	}
	return sameOperation(constant, varied, do), nil
}

const tagSize = sha256.Size

// A comparer reports whether two tags are equal.
type comparer func(want, got []byte) bool

// earlyExit makes the classic mistake: it stops at the first byte that differs.
func earlyExit(want, got []byte) bool {
	for i := range want {
		if want[i] != got[i] {
			return false
		}
	}
	return true
}

// A verifier checks tags of one fixed message, as a server checks tokens: it computes the tag and
// compares.
type verifier struct {
	mac     hash.Hash
	message []byte
	sum     []byte
	equal   comparer
	refused int // keeps the compiler from removing the comparison
}

// newVerifier returns a verifier under a random key for a message of size bytes.
func newVerifier(random *rand.Rand, size int, equal comparer) *verifier {
	return &verifier{mac: hmac.New(sha256.New, randomBytes(random, 32)), message: randomBytes(random, size), equal: equal}
}

// tag returns the right tag. It is valid until the next call.
func (v *verifier) tag() []byte {
	v.mac.Reset()
	v.mac.Write(v.message)
	v.sum = v.mac.Sum(v.sum[:0])
	return v.sum
}

func (v *verifier) check(tag []byte) {
	if !v.equal(v.tag(), tag[:tagSize]) {
		v.refused++
	}
}

// wrongAt returns tags that differ from the right one only in the byte at place.
func (v *verifier) wrongAt(random *rand.Rand, place int) [][]byte {
	pool := make([][]byte, poolSize)
	for i := range pool {
		pool[i] = append(bytes.Clone(v.tag()), 0)
		pool[i][place] ^= byte(1 + random.IntN(255))
	}
	return pool
}

// marked returns tags that are wrong in their first byte, followed by mark.
func (v *verifier) marked(random *rand.Rand, mark byte) [][]byte {
	pool := v.wrongAt(random, 0)
	for _, tag := range pool {
		tag[tagSize] = mark
	}
	return pool
}

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}
