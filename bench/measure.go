package bench

import (
	"fmt"
	"runtime"
	"slices"
)

const (
	// parts is how many parts a cell runs in, an odd number. A part is short
	// enough that the system interrupts few of them on a machine that does other
	// work too, and long enough to hold its share of garbage collection.
	parts = 7
	// warmShare is how many times longer than its warming a cell runs.
	warmShare = 16
)

// measure runs the cell once. Where it is compared with another, the garbage of
// the cells before is collected first; a few operations fill again the pools and
// caches that this emptied.
func (p planned) measure() (Measurement, error) {
	if p.compared() {
		runtime.GC()
	}
	if _, err := p.Run(1 + p.n/warmShare); err != nil {
		return Measurement{}, fmt.Errorf("sealab: %s: %w", p, err)
	}
	ns, n, err := p.medianPart()
	if err != nil {
		return Measurement{}, fmt.Errorf("sealab: %s: %w", p, err)
	}
	return Measurement{
		Subject: p.Name, Op: p.op, Size: p.size, N: n, NsPerOp: ns,
		Allocations: p.allocs, TokenSize: p.TokenSize,
	}, nil
}

// medianPart returns the time of an operation in the median part of the cell, in
// nanoseconds, and the number of operations of all parts.
func (p planned) medianPart() (ns float64, n int, err error) {
	times := make([]float64, parts)
	each := max(1, p.n/parts)
	for i := range times {
		elapsed, err := p.Run(each)
		if err != nil {
			return 0, 0, err
		}
		if elapsed <= 0 {
			return 0, 0, fmt.Errorf("%d operations took %v", each, elapsed)
		}
		times[i] = float64(elapsed.Nanoseconds()) / float64(each)
	}
	slices.Sort(times)
	return times[parts/2], parts * each, nil
}
