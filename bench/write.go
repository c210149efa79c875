package bench

import (
	"bytes"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/perf/benchfmt"

	"sealab/internal/runfile"
)

// unitLines say of units that are not times that they do not vary, and which
// direction is better where package benchfmt does not know it.
const unitLines = `Unit allocs/op assume=exact
Unit ` + runfile.UnitToken + ` assume=exact
Unit ` + runfile.UnitToken + ` better=lower
`

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
	text := bytes.NewBufferString(unitLines)
	w := benchfmt.NewWriter(text)
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
