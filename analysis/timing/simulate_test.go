package timing

import (
	"math"
	"math/rand/v2"

	"sealab/internal/runfile"
)

// A machine is a simulated source of samples.
type machine struct {
	random *rand.Rand
	// noise returns the time of the next sample, without the leak.
	noise func() float64
	// leak returns the extra time of class B.
	leak func() float64
	slot float64 // extra time of the first sample of a block
}

const simulatedOps = 4

// newMachine returns a machine with times around 2 us and noise of 10 ns per operation.
func newMachine(seed uint64) *machine {
	m := &machine{random: rand.New(rand.NewPCG(seed, 1)), leak: func() float64 { return 0 }}
	m.noise = func() float64 { return 2000 + 10*m.random.NormFloat64() }
	return m
}

// heavyTails adds interrupts to one sample in fifty and a drift to all.
func (m *machine) heavyTails() *machine {
	quiet, n := m.noise, 0.0
	m.noise = func() float64 {
		n++
		t := quiet() + 100*math.Sin(n/9000)
		if m.random.IntN(50) == 0 {
			t += 500 / math.Pow(m.random.Float64()+1e-4, 1.5)
		}
		return t
	}
	return m
}

// correlated makes each sample's noise depend on the previous one.
func (m *machine) correlated() *machine {
	state := 0.0
	m.noise = func() float64 {
		state = 0.97*state + 8*m.random.NormFloat64()
		return 2000 + state + 10*m.random.NormFloat64()
	}
	return m
}

func (m *machine) shift(ns float64) *machine {
	m.leak = func() float64 { return ns }
	return m
}

// tail delays one in ten samples of B.
func (m *machine) tail(ns float64) *machine {
	m.leak = func() float64 {
		if m.random.IntN(10) == 0 {
			return ns
		}
		return 0
	}
	return m
}

// run returns the samples of one pass.
func (m *machine) run(probe runfile.Probe, pass, blocks int) *runfile.Samples {
	f := &runfile.Samples{Header: runfile.Header{Probe: probe, Pass: pass, Blocks: blocks, Ops: simulatedOps}}
	for range blocks {
		first, second := m.noise()+m.slot, m.noise()
		bFirst := m.random.IntN(2) == 1
		a, b := first, second
		if bFirst {
			a, b = second, first
		}
		b += m.leak()
		f.Data = append(f.Data, runfile.Block{A: clock(a), B: clock(b), BFirst: bFirst})
	}
	return f
}

// clock rounds the time of a sample to nanoseconds.
func clock(perOp float64) uint32 { return uint32(math.Round(perOp * simulatedOps)) }
