// Package runfile defines the files of runs. An instrument writes them, an analysis reads them, and
// neither imports the other. A run is a folder
//
//	results/<kind>/<date>-<commit>/
//
// that [Stamp.Dir] names and [Runs] finds. The other files of this package describe benchmark runs, timing
// samples and taint logs.
package runfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sealab/internal/atomicfile"
)

// An Expectation is the outcome that a control must have.
type Expectation string

// The expectations. Designs have the expectation Open.
const (
	Open  Expectation = ""
	Leaks Expectation = "leaks"
	Clean Expectation = "clean"
)

// The kinds of runs. A run is the folder results/<kind>/<date>-<commit>.
const (
	Bench      = "bench"      // throughput and token sizes
	Attack     = "attack"     // attacks on guarantees
	Fuzz       = "fuzz"       // a fuzz campaign
	Experiment = "experiment" // an evaluation of fuzzers
	Timing     = "timing"     // timing samples and their judgement
	Taint      = "taint"      // dependences on secrets under valgrind
	CVE        = "cve"        // known vulnerabilities found again
	Review     = "review"     // a review of a live server
	World      = "world"      // a comparison of token formats
)

// Results is the folder of all runs in the working folder.
const Results = "results"

// MainFile returns the name of the file that every run of a kind contains.
func MainFile(kind string) string {
	return map[string]string{
		Bench: BenchFile, Attack: "findings.json", Fuzz: "report.json",
		Experiment: "trials.jsonl", Timing: "judgement.json", Taint: "taint.txt", CVE: "outcomes.json",
		Review: "findings.json", World: "world.json",
	}[kind]
}

// A Stamp identifies the code, time and machine of a run.
type Stamp struct {
	Time   time.Time
	Commit string // Unknown if the build information lacks it
	Dirty  bool
	Host   string
	// Modules are the other modules in the build, as path@version.
	Modules []string
}

// Unknown is the value of a stamp field that the build information lacks.
const Unknown = "unknown"

// NewStamp returns the stamp of a run at a time. host names the machine. If host is empty, the stamp has a
// digest of the machine's name, which only distinguishes machines.
func NewStamp(at time.Time, host string) (Stamp, error) {
	s := Stamp{Time: at.UTC(), Host: host}
	if host == "" {
		name, err := os.Hostname()
		if err != nil {
			return s, err
		}
		digest := sha256.Sum256([]byte("sealab host " + name))
		s.Host = "h" + hex.EncodeToString(digest[:4])
	}
	if strings.ContainsAny(s.Host, "/\\ \t\n") {
		return s, fmt.Errorf("%q cannot name a host: want no space and no slash", s.Host)
	}
	s.Commit = cmp.Or(BuildSetting("vcs.revision"), Unknown)
	s.Dirty = BuildSetting("vcs.modified") == "true"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			s.Modules = append(s.Modules, m.Path+"@"+m.Version)
		}
	}
	return s, nil
}

// BuildSetting returns a build setting of this program, or "" if it is unknown.
func BuildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}

// Dir returns the folder of a run: <root>/<kind>/<date>-<commit>.
func (s Stamp) Dir(root, kind string) string {
	commit := s.Commit[:min(len(s.Commit), 10)]
	if s.Dirty {
		commit += "-dirty"
	}
	return filepath.Join(root, kind, s.Time.Format("20060102T150405Z")+"-"+commit)
}

// Runs returns the folders of all runs of a kind below root, oldest first.
func Runs(root, kind string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(root, kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		dir := filepath.Join(root, kind, e.Name())
		if atomicfile.Exists(filepath.Join(dir, MainFile(kind))) && !strings.HasPrefix(e.Name(), ".") {
			runs = append(runs, dir)
		}
	}
	slices.Sort(runs)
	return runs, nil
}

// Newest returns the folders of the n newest runs of a kind below root, oldest first.
func Newest(root, kind string, n int) ([]string, error) {
	runs, err := Runs(root, kind)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("there is no run in %s", filepath.Join(root, kind))
	}
	if len(runs) < n {
		return nil, fmt.Errorf("want %d runs in %s, found %d", n, filepath.Join(root, kind), len(runs))
	}
	return runs[len(runs)-n:], nil
}

// CPUName returns the processor's model name from /proc/cpuinfo, or Unknown.
func CPUName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return Unknown
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return Unknown
}
