package timing

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"sealab/internal/runfile"
)

const (
	// blocksPerChunk is the number of blocks between two garbage collections.
	blocksPerChunk = 1000
	// warmUp is the number of blocks dropped at the beginning of a chunk, and briefly at the beginning of
	// a cluster.
	warmUp, clusterWarmUp = 100, 10
)

// A precision states how often a sampler repeats work. Tests need less.
type precision struct {
	clusters int // sets of keys that a clustered comparison draws
	readings int // readings of which the median is taken
}

// fullPrecision is the precision of a run whose samples are judged.
var fullPrecision = precision{clusters: 100, readings: 101}

// minBlocks returns the number of blocks for the slowest subjects.
func (p precision) minBlocks() int { return 2 * p.clusters }

// A sampler measures comparisons, one at a time. It must stay on the goroutine that
// made it.
type sampler struct {
	precision
	random *rand.Rand
	clock  float64 // cost of a reading in nanoseconds
	buffer []byte  // every input is copied here
}

func newSampler(seed uint64, p precision) *sampler {
	return &sampler{precision: p, random: rand.New(rand.NewPCG(seed, 0)), clock: p.clockCost()}
}

// quietProcess keeps the garbage collector, the scheduler and other processors from interfering until
// restore is called.
func quietProcess() (restore func()) {
	unpin := pinToProcessor()
	percent := debug.SetGCPercent(-1)
	procs := runtime.GOMAXPROCS(1)
	return func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
		unpin()
	}
}

// measure runs a comparison for the given number of blocks, or fewer if budget is too short.
func (s *sampler) measure(t Comparison, blocks int, budget time.Duration) (*runfile.Samples, error) {
	set, err := t.prepare(s.random)
	if err != nil {
		return nil, err
	}
	f := &runfile.Samples{Header: runfile.Header{Probe: t.Probe, ClockNs: s.clock}}
	s.fit(f, set, blocks, budget)
	if t.Clustered {
		f.Cluster = f.Blocks / s.clusters
		f.Blocks = f.Cluster * s.clusters
	}
	for len(f.Data) < f.Blocks {
		if err := s.fill(f, t, set); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// fit chooses the number of operations per sample and the number of blocks.
func (s *sampler) fit(f *runfile.Samples, set *classPair, blocks int, budget time.Duration) {
	s.reserve(set)
	input := s.load(&set.a)
	do := func() { set.a.do(input) }
	f.Ops = s.operations(do, s.clock)
	perBlock := 2 * time.Duration(f.Ops) * s.typical(do)
	f.Blocks = max(s.minBlocks(), min(blocks, int(budget/max(perBlock, 1))))
}

// reserve grows the buffer to the longest input of the set.
func (s *sampler) reserve(set *classPair) {
	for _, c := range []class{set.a, set.b} {
		for _, input := range c.inputs {
			if len(input) > len(s.buffer) {
				s.buffer = make([]byte, len(input))
			}
		}
	}
}

// fill appends the next chunk of blocks to f, or the next cluster.
func (s *sampler) fill(f *runfile.Samples, t Comparison, set *classPair) error {
	n := min(blocksPerChunk, f.Blocks-len(f.Data))
	dropped := min(n, warmUp)
	if t.Clustered {
		fresh, err := t.prepare(s.random)
		if err != nil {
			return err
		}
		set, n, dropped = fresh, f.Cluster, clusterWarmUp
		s.reserve(set)
	}
	runtime.GC()
	for range dropped {
		s.block(set, f.Ops)
	}
	for range n {
		f.Data = append(f.Data, s.block(set, f.Ops))
	}
	return nil
}

// block measures both classes once, in random order.
func (s *sampler) block(set *classPair, ops int) runfile.Block {
	if s.random.Uint64()&1 == 1 {
		b := s.sample(&set.b, ops)
		return runfile.Block{A: s.sample(&set.a, ops), B: b, BFirst: true}
	}
	a := s.sample(&set.a, ops)
	return runfile.Block{A: a, B: s.sample(&set.b, ops)}
}

// sample returns the nanoseconds of ops operations on one input of the class.
func (s *sampler) sample(c *class, ops int) uint32 {
	input := s.load(c)
	start := sinceEpoch()
	for range ops {
		c.do(input)
	}
	return uint32(min(sinceEpoch()-start, math.MaxUint32))
}

// load copies a random input of the class into the buffer.
func (s *sampler) load(c *class) []byte {
	input := c.inputs[s.random.IntN(len(c.inputs))]
	return s.buffer[:copy(s.buffer, input)]
}
