package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"sealab/internal/runfile"
)

// stampLines returns a stamp as the head of a benchmark file.
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

// unitLines declare the units that do not vary, and the better direction of a unit
// that package benchfmt does not know.
const unitLines = `Unit allocs/op assume=exact
Unit ` + runfile.UnitToken + ` assume=exact
Unit ` + runfile.UnitToken + ` better=lower
`

// Write writes the result as a new run's folder below root and returns its
// path. It is there whole or not at all.
func (r *Result) Write(root string, s runfile.Stamp) (string, error) {
	text, err := r.format(s)
	if err != nil {
		return "", err
	}
	dir := s.Dir(root, runfile.Bench)
	return dir, runfile.WriteBench(dir, text, r.Subjects)
}

// format returns the measurements in the Go benchmark format.
func (r *Result) format(s runfile.Stamp) ([]byte, error) {
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
		{Value: round(m.NsPerOp), Unit: "ns/op"},
		{Value: round(float64(m.Size) / m.NsPerOp * 1e3), Unit: "MB/s"},
		{Value: float64(m.TokenSize), Unit: runfile.UnitToken},
	}
	if m.Counted {
		values = append(values,
			benchfmt.Value{Value: float64(m.Bytes), Unit: "B/op"},
			benchfmt.Value{Value: float64(m.Allocs), Unit: "allocs/op"})
	}
	return values
}

// round keeps six significant digits: more is noise and fills files.
func round(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
