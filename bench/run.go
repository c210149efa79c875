package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"sealab/codecs"
	"sealab/internal/runfile"
)

// A Measurement is the result of one cell in one round.
type Measurement struct {
	Subject string
	Op      runfile.Op
	Size    int // payload bytes
	N       int // operations
	NsPerOp float64
	Allocations
	TokenSize int
}

// A Result holds the measurements of one run, in the order of measurement.
type Result struct {
	Config       Config
	Subjects     []runfile.Subject
	Measurements []Measurement
}

// Run measures the subjects that c selects. It fails before the first measurement if a cell cannot be set
// up. If ctx is done, it stops between two cells.
func Run(ctx context.Context, all []Subject, c Config) (*Result, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	subjects, err := chooseSubjects(all, c.Subjects)
	if err != nil {
		return nil, err
	}
	cells, err := planCells(ctx, subjects, c)
	if err != nil {
		return nil, err
	}
	result := &Result{Config: c}
	for _, s := range subjects {
		result.Subjects = append(result.Subjects, s.Subject)
	}
	random := rand.New(rand.NewPCG(c.Seed, c.Seed))
	for round := range c.Rounds {
		for done, i := range random.Perm(len(cells)) {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("the run was stopped in round %d of %d; nothing is kept: %w", round+1, c.Rounds, err)
			}
			c.Progress("measuring", round*len(cells)+done, c.Rounds*len(cells))
			m, err := cells[i].measure()
			if err != nil {
				return nil, err
			}
			result.Measurements = append(result.Measurements, m)
		}
	}
	c.Progress("measuring", c.Rounds*len(cells), c.Rounds*len(cells))
	return result, nil
}

// A cellPlace is the subject, operation and payload size of one cell.
type cellPlace struct {
	Subject
	op   runfile.Op
	size int // payload bytes
}

// String returns the name of the place's measurements.
func (p cellPlace) String() string { return runfile.Name(p.Name, p.op, p.size) }

// compared reports whether reports compare the place's times with others. They do not compare the times of
// refusals.
func (p cellPlace) compared() bool { return !p.op.Refuses() }

// places returns every combination of the subjects, operations and sizes.
func (c Config) places(subjects []Subject) []cellPlace {
	all := make([]cellPlace, 0, len(subjects)*len(c.Ops)*len(c.Sizes))
	for _, s := range subjects {
		for _, op := range c.Ops {
			for _, size := range c.Sizes {
				all = append(all, cellPlace{s, op, size})
			}
		}
	}
	return all
}

// plannedCell is a cell that is set up, with a fixed number of operations.
type plannedCell struct {
	cellPlace
	Operation
	n      int // operations in a round
	allocs Allocations
}

// planCells sets up every cell that the subjects support, chooses its number of operations per round, and
// counts its allocations.
func planCells(ctx context.Context, subjects []Subject, c Config) ([]plannedCell, error) {
	places := c.places(subjects)
	cells := make([]plannedCell, 0, len(places))
	for i, at := range places {
		c.Progress("preparing", i, len(places))
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("the run was stopped before its first round: %w", err)
		}
		cell, err := at.prepare(c)
		if errors.Is(err, codecs.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		cells = append(cells, cell)
	}
	if len(cells) == 0 {
		return nil, errors.New("no subject has any of these operations")
	}
	c.Progress("preparing", len(places), len(places))
	return cells, nil
}

// prepare sets up the cell of one place.
func (p cellPlace) prepare(c Config) (plannedCell, error) {
	payload, err := Payload(p.size)
	if err != nil {
		return plannedCell{}, err
	}
	cell, err := p.Prepare(p.op, payload)
	if err != nil {
		return plannedCell{}, err
	}
	n, err := calibrateOps(cell.Run, c.cellTime(p))
	if err != nil {
		return plannedCell{}, err
	}
	allocs, err := countAllocations(cell, n)
	return plannedCell{p, cell, n, allocs}, err
}

const (
	// partsPerCell is the number of parts of a cell, which is odd. A part is short enough that a busy
	// system interrupts few of them, and long enough to include its share of garbage collection.
	partsPerCell = 7
	// warmShare is the ratio of a cell's operations to those that warm it up.
	warmShare = 16
)

// measure runs the cell once. If the cell is compared with others, measure first collects the garbage of
// earlier cells. A few operations then refill the pools and caches that the collection emptied.
func (p plannedCell) measure() (Measurement, error) {
	if p.compared() {
		collectGarbage()
	}
	if _, err := p.Run(1 + p.n/warmShare); err != nil {
		return Measurement{}, fmt.Errorf("%s: %w", p, err)
	}
	ns, n, err := p.medianPart()
	if err != nil {
		return Measurement{}, fmt.Errorf("%s: %w", p, err)
	}
	return Measurement{
		Subject: p.Name, Op: p.op, Size: p.size, N: n, NsPerOp: ns,
		Allocations: p.allocs, TokenSize: p.TokenSize,
	}, nil
}

// collectGarbage collects the garbage of earlier cells if it exceeds a quarter of the live heap. Less
// garbage leaves room for that of a cell, because the next collection starts at twice the live heap. A
// collection takes as long as a cell.
func collectGarbage() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if objects, live := heap[0].Value.Uint64(), heap[1].Value.Uint64(); objects > live+live/4 {
		runtime.GC()
	}
}

// medianPart returns the nanoseconds per operation in the median part of the cell, and the number of
// operations in all parts.
func (p plannedCell) medianPart() (ns float64, n int, err error) {
	times := make([]float64, partsPerCell)
	each := max(1, p.n/partsPerCell)
	for i := range times {
		elapsed, err := deeper(i, p.Run, each)
		if err != nil {
			return 0, 0, err
		}
		if elapsed <= 0 {
			return 0, 0, fmt.Errorf("%d operations took %v", each, elapsed)
		}
		times[i] = float64(elapsed.Nanoseconds()) / float64(each)
	}
	slices.Sort(times)
	return times[partsPerCell/2], partsPerCell * each, nil
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

// maxOps is the largest number of operations of a cell.
const maxOps = 1 << 30

// calibrateOps returns the number of operations, at least one, that takes about the target time.
func calibrateOps(run func(n int) (time.Duration, error), target time.Duration) (int, error) {
	for n := 1; ; {
		elapsed, err := run(n)
		if err != nil {
			return 0, err
		}
		// A tenth of the target is enough to extrapolate from. A longer trial would cost as much as a
		// round.
		if elapsed >= target/10 || n >= maxOps {
			return min(maxOps, max(1, int(float64(n)*float64(target)/float64(max(1, elapsed))))), nil
		}
		n *= 4
	}
}

// Allocations are the allocations of one operation.
type Allocations struct {
	Counted       bool // false: another process did the work
	Bytes, Allocs uint64
}

// The trials of count. Allocations of the runtime are spread over the operations of a trial. The smallest
// of several trials is free of them.
const (
	countTrials = 3
	leastCount  = 4  // operations of a trial
	mostCount   = 64 // operations of a trial
)

// countAllocations counts the allocations of one operation, outside any timing. n is the number of
// operations of the cell in a round.
func countAllocations(c Operation, n int) (Allocations, error) {
	ops := min(mostCount, max(leastCount, n/16))
	if !c.InProcess {
		return Allocations{}, nil
	}
	least := Allocations{Counted: true, Bytes: ^uint64(0), Allocs: ^uint64(0)}
	var before, after runtime.MemStats
	for range countTrials {
		if _, err := c.Run(ops); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&before)
		if _, err := c.Run(ops); err != nil {
			return Allocations{}, err
		}
		runtime.ReadMemStats(&after)
		least.Bytes = min(least.Bytes, (after.TotalAlloc-before.TotalAlloc)/uint64(ops))
		least.Allocs = min(least.Allocs, (after.Mallocs-before.Mallocs)/uint64(ops))
	}
	return least, nil
}

// stampLines returns a stamp as configuration lines of a benchmark file.
func stampLines(s runfile.Stamp, c Config) []benchfmt.Config {
	var all []benchfmt.Config
	add := func(key string, value any) {
		all = append(all, benchfmt.Config{Key: key, Value: fmt.Append(nil, value), File: true})
	}
	add("goos", runtime.GOOS)
	add("goarch", runtime.GOARCH)
	add("pkg", "sealab/bench")
	add("cpu", runfile.CPUName())
	add("cpus", runtime.NumCPU())
	add("toolchain", runtime.Version())
	add("commit", s.Commit)
	add("dirty", s.Dirty)
	add("date", s.Time.Format(time.RFC3339))
	add("host", s.Host)
	add("rounds", c.Rounds)
	add("cell", c.Cell)
	add("seed", c.Seed)
	add("modules", cmp.Or(strings.Join(s.Modules, " "), runfile.Unknown))
	return all
}

// unitLines declares the units that do not vary, and the better direction of a unit that package benchfmt
// does not know.
const unitLines = `Unit allocs/op assume=exact
Unit ` + runfile.UnitToken + ` assume=exact
Unit ` + runfile.UnitToken + ` better=lower
`

// Format returns the measurements in the Go benchmark format, preceded by the stamp.
func (r *Result) Format(s runfile.Stamp) ([]byte, error) {
	text := bytes.NewBufferString(unitLines)
	w := benchfmt.NewWriter(text)
	config := stampLines(s, r.Config)
	for _, m := range r.Measurements {
		if err := w.Write(&benchfmt.Result{Config: config, Name: m.name(), Iters: m.N, Values: m.values()}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// name returns the measurement's name with the number of processors, as package
// testing writes it.
func (m Measurement) name() benchfmt.Name {
	return fmt.Appendf(nil, "%s-%d", runfile.Name(m.Subject, m.Op, m.Size), runtime.GOMAXPROCS(0))
}

func (m Measurement) values() []benchfmt.Value {
	values := []benchfmt.Value{
		{Value: roundDigits(m.NsPerOp), Unit: "ns/op"},
		{Value: roundDigits(float64(m.Size) / m.NsPerOp * 1e3), Unit: "MB/s"},
		{Value: float64(m.TokenSize), Unit: runfile.UnitToken},
	}
	if m.Counted {
		values = append(values,
			benchfmt.Value{Value: float64(m.Bytes), Unit: "B/op"},
			benchfmt.Value{Value: float64(m.Allocs), Unit: "allocs/op"})
	}
	return values
}

// roundDigits keeps six significant digits. The others are noise.
func roundDigits(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
