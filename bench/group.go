package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"sealab/internal/runfile"
)

// A group is a list of cells that are measured together, because reports compare them: the same operation
// and size of all subjects that are linked by comparisons. Opening under a ring of many keys is compared
// with opening under a ring of one.
//
// The speed of a shared machine drifts: AES took between 2 and 3.6 ms for the same work within seconds, but
// two neighboring trials differed by 3 % only. Therefore the parts of a group's cells take turns.
type group []plannedCell

// groupCells divides cells into groups, in the order of their first cells.
func groupCells(cells []plannedCell, subjects []runfile.Subject) []group {
	type key struct {
		family string
		op     runfile.Op
		size   int
	}
	family := families(subjects)
	index := map[key]int{}
	var groups []group
	for _, c := range cells {
		k := key{family[c.Name], c.op, c.size}
		if k.op == runfile.UnsealRing {
			k.op = runfile.Unseal
		}
		i, ok := index[k]
		if !ok {
			i, index[k] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// families returns the family of each subject by name. Subjects that are compared are in one family. A
// family has the name of one of its members.
func families(subjects []runfile.Subject) map[string]string {
	family := map[string]string{}
	for _, s := range subjects {
		family[s.Name] = s.Name
	}
	for _, s := range subjects {
		for _, other := range runfile.Compared(subjects, s) {
			from, to := family[s.Name], family[other.Name]
			for name, f := range family {
				if f == from {
					family[name] = to
				}
			}
		}
	}
	return family
}

const (
	// partsPerCell is the number of parts of a cell, which is odd. A part is short enough that a busy
	// system interrupts few of them, and long enough to include its share of garbage collection.
	partsPerCell = 15
	// warmShare is the ratio of a part's operations to those that warm it up.
	warmShare = 16
)

// measure runs each cell of the group once, part by part in turns. The median part of a cell counts. If the
// cells are compared, measure first collects the garbage of earlier groups.
func (g group) measure(ctx context.Context, random *rand.Rand) ([]Measurement, error) {
	if g[0].compared() {
		collectGarbage()
	}
	for _, cell := range g {
		if _, err := cell.Run(1 + cell.n); err != nil {
			return nil, fmt.Errorf("%s: %w", cell, err)
		}
	}
	times := make([][]float64, len(g)) // nanoseconds per operation, by cell and part
	for part := range partsPerCell {
		for _, i := range random.Perm(len(g)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			cell := g[i]
			ns, err := cell.part(part)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", cell, err)
			}
			times[i] = append(times[i], ns)
		}
	}
	all := make([]Measurement, len(g))
	for i, cell := range g {
		slices.Sort(times[i])
		all[i] = Measurement{
			Subject: cell.Name, Op: cell.op, Size: cell.size, N: partsPerCell * cell.n, NsPerOp: times[i][partsPerCell/2],
			Allocations: cell.allocs, TokenSize: cell.TokenSize,
		}
	}
	return all, nil
}

// part runs one part of the cell and returns the nanoseconds per operation. If the cell has many operations,
// a few of them first refill the caches that the parts of other cells emptied.
func (p plannedCell) part(depth int) (ns float64, err error) {
	if warm := p.n / warmShare; warm > 0 {
		if _, err := p.Run(warm); err != nil {
			return 0, err
		}
	}
	elapsed, err := deeper(depth, p.Run, p.n)
	if err == nil && elapsed <= 0 {
		err = fmt.Errorf("%d operations took %v", p.n, elapsed)
	}
	return float64(elapsed.Nanoseconds()) / float64(p.n), err
}

// collectGarbage collects the garbage of earlier groups if it exceeds a quarter of the live heap. Less
// garbage leaves room for that of a cell, because the next collection starts at twice the live heap. A
// collection takes as long as a cell.
func collectGarbage() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if objects, live := heap[0].Value.Uint64(), heap[1].Value.Uint64(); objects > live+live/4 {
		runtime.GC()
	}
}

// deeper calls run from n frames further down the stack. A cipher can take twice as long if a cache line
// ends inside one of its variables. Therefore each part of a cell runs at another depth.
//
//go:noinline
func deeper(n int, run func(ops int) (time.Duration, error), ops int) (time.Duration, error) {
	if n > 0 {
		return deeper(n-1, run, ops)
	}
	return run(ops)
}
