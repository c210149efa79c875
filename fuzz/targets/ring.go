package targets

import (
	"hash/fnv"
	"math/rand/v2"
)

// A ring is things to choose from by a number of 16 bits, such that each is
// about as likely as any other and most numbers mean the same when some
// come or go: consistent hashing. Each has many points on a circle, which
// its name alone decides, and a number means the thing whose point is next.
type ring[T any] struct {
	things []T
	next   []uint16 // for each number the thing, counted from one
}

// points is how many points each thing has: with so many, the weights of
// hundreds differ by less than two thirds of their mean.
const points = 32

// newRing returns the ring of things, which have the given names. Of two points in
// one place that of the earlier one counts.
func newRing[T any](names []string, things []T) ring[T] {
	r := ring[T]{things, make([]uint16, 1<<16)}
	for i, name := range names {
		h := fnv.New64a()
		h.Write([]byte(name)) //nolint:errcheck // documented never to fail
		g := rand.NewPCG(h.Sum64(), points)
		for range points {
			if at := &r.next[uint16(g.Uint64())]; *at == 0 {
				*at = uint16(i + 1)
			}
		}
	}
	r.fill()
	return r
}

// fill gives the numbers between two points to the second one. The way round is
// walked twice, since the last numbers belong to the first point.
func (r ring[T]) fill() {
	var next uint16
	for i := 2*len(r.next) - 1; i >= 0; i-- {
		at := &r.next[i%len(r.next)]
		if *at == 0 {
			*at = next
		}
		next = *at
	}
}

// at returns the thing that n, from 0 to 65535, means.
func (r ring[T]) at(n int) T { return r.things[r.next[n]-1] }
