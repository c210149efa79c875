package bench

import (
	"bytes"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/perf/benchfmt"

	"sealab/internal/runfile"
)

// exactUnits are the units whose values are counts and do not vary.
var exactUnits = []string{"B/op", "allocs/op", runfile.UnitToken}

// Write writes the result as a new run's folder below root and returns its
// path. It is there whole or not at all.
func (r *Result) Write(root string, s Stamp) (string, error) {
	text, err := r.format(s)
	if err != nil {
		return "", err
	}
	return runfile.Write(root, s.Folder(), text, r.Subjects)
}

// format returns the measurements in the Go benchmark format.
func (r *Result) format(s Stamp) ([]byte, error) {
	var text bytes.Buffer
	for _, unit := range exactUnits {
		fmt.Fprintf(&text, "Unit %s assume=exact\n", unit)
	}
	w := benchfmt.NewWriter(&text)
	config := s.config(r.Config)
	for _, m := range r.Measurements {
		if err := w.Write(&benchfmt.Result{Config: config, Name: m.name(), Iters: m.N, Values: m.values()}); err != nil {
			return nil, fmt.Errorf("sealab: %w", err)
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
