package bench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
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
