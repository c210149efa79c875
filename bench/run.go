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
	groups := groupCells(cells, result.Subjects)
	random := rand.New(rand.NewPCG(c.Seed, c.Seed))
	total := c.Rounds * len(cells)
	for round := range c.Rounds {
		for _, i := range random.Perm(len(groups)) {
			c.Progress("measuring", len(result.Measurements), total)
			measured, err := groups[i].measure(ctx, random)
			if ctx.Err() != nil {
				return nil, fmt.Errorf("the run was stopped in round %d of %d; nothing is kept: %w", round+1, c.Rounds, ctx.Err())
			}
			if err != nil {
				return nil, err
			}
			result.Measurements = append(result.Measurements, measured...)
		}
	}
	c.Progress("measuring", total, total)
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
	n      int // operations in a part
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
	return plannedCell{p, cell, max(1, n/partsPerCell), allocs}, err
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

// The trials of countAllocations. Allocations of the runtime are spread over the operations of a trial. The smallest
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
