package draw

import (
	"hash/fnv"
	"math/rand/v2"
)

// A ring maps numbers of 16 bits to things by consistent hashing: each thing is
// about equally likely, and most numbers keep their thing if others come or go.
// Each thing has many points on a circle, by its name alone; a number means the
// thing of the next point.
type ring[T any] struct {
	things []T
	next   []uint16 // for each number the thing, counted from one
}

// points is the number of points of each thing. With 32, the weights of
// hundreds of things differ by less than two thirds of their mean.
const points = 32

// newRing returns the ring of things with the given names. If two points
// coincide the earlier one counts.
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

// fill gives the numbers between two points to the second one. It walks the
// circle twice, because the last numbers belong to the first point.
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

// at returns the thing of n, from 0 to 65535.
func (r ring[T]) at(n int) T { return r.things[r.next[n]-1] }
