package bench

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"sealab/internal/runfile"
)

// A Stamp says what was measured where and when.
type Stamp struct {
	Time   time.Time
	Commit string // "unknown" where the build does not know
	Dirty  bool
	Host   string
	// Modules are the other modules in the build, as path@version.
	Modules []string
}

// unknown stands for what the build does not say.
const unknown = "unknown"

// NewStamp returns the stamp of a run at a time. host names the machine; when
// it is empty, a digest of the machine's name does, which tells runs of one
// machine from those of another and nothing else.
func NewStamp(at time.Time, host string) (Stamp, error) {
	s := Stamp{Time: at.UTC(), Commit: unknown, Host: host}
	if host == "" {
		name, err := os.Hostname()
		if err != nil {
			return s, fmt.Errorf("sealab: %w", err)
		}
		digest := sha256.Sum256([]byte("sealab host " + name))
		s.Host = "h" + hex.EncodeToString(digest[:4])
	}
	if strings.ContainsAny(s.Host, "/\\ \t\n") {
		return s, fmt.Errorf("sealab: %q cannot name a host: it is part of a folder's name", s.Host)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return s, nil
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			s.Commit = setting.Value
		case "vcs.modified":
			s.Dirty = setting.Value == "true"
		}
	}
	for _, m := range info.Deps {
		s.Modules = append(s.Modules, m.Path+"@"+m.Version)
	}
	return s, nil
}

// Folder returns the name of the run's folder.
func (s Stamp) Folder() string {
	commit := s.Commit[:min(len(s.Commit), 10)]
	if s.Dirty {
		commit += "-dirty"
	}
	return fmt.Sprintf("%s-%s-%s", s.Time.Format("20060102T150405Z"), commit, s.Host)
}

// config returns the stamp as the head of a benchmark file.
func (s Stamp) config(c Config) []benchfmt.Config {
	var all []benchfmt.Config
	add := func(key string, value any) {
		all = append(all, benchfmt.Config{Key: key, Value: fmt.Append(nil, value), File: true})
	}
	add("goos", runtime.GOOS)
	add("goarch", runtime.GOARCH)
	add("pkg", "sealab/bench")
	add("cpu", CPUName())
	add("cpus", runtime.NumCPU())
	add("toolchain", runtime.Version())
	add("commit", s.Commit)
	add("dirty", s.Dirty)
	add("date", s.Time.Format(time.RFC3339))
	add("host", s.Host)
	add("rounds", c.Rounds)
	add("cell", c.Cell)
	add("seed", c.Seed)
	add("modules", cmp.Or(strings.Join(s.Modules, " "), unknown))
	return all
}

// CPUName returns the processor's name where the system tells it in a file, and
// "unknown" elsewhere.
func CPUName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

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
