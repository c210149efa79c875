package throughput_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/analysis/throughput"
	"sealab/internal/runfile"
)

// A simulation is a run with known true times.
type simulation struct {
	rounds int
	noise  float64 // standard deviation of a cell, as a share
	// slow multiplies the true time of some cells.
	slow   map[throughput.Place]float64
	whole  float64 // multiplies all times, like a slower machine; 0 means 1
	allocs map[string]int
	size   map[string]int // token bytes
	stamp  string
}

// The subjects of every simulation, with their true times in nanoseconds for
// each operation at 64 B and at 8 KiB.
var simulated = []struct {
	runfile.Subject
	small, large float64
}{
	{runfile.Subject{Name: "enc", Role: runfile.RoleDesign, Kind: runfile.Encrypts, Primitive: "X"}, 120, 1100},
	{runfile.Subject{Name: "warm", Role: runfile.RoleDesign, Kind: runfile.Encrypts, Primitive: "X", Amortized: true}, 150, 1300},
	{runfile.Subject{Name: "sig", Role: runfile.RoleDesign, Kind: runfile.Signs, Primitive: "Y"}, 200, 4000},
	{runfile.Subject{Name: "far", Role: runfile.RoleScheme, Kind: runfile.Signs}, 2000, 9000},
	{runfile.Subject{Name: "enc-again", Role: runfile.RoleRepeat, Kind: runfile.Encrypts, Repeats: "enc"}, 120, 1100},
	{runfile.Subject{Name: "bare-claims", Role: runfile.RoleBaseline, Primitive: "X", Claims: true, Over: "bare"}, 500, 2000},
	{runfile.Subject{Name: "bare-x", Role: runfile.RoleBaseline, Primitive: "X"}, 100, 1000},
	{runfile.Subject{Name: "bare-y", Role: runfile.RoleBaseline, Primitive: "Y"}, 190, 3900},
	{runfile.Subject{Name: "near", Role: runfile.RoleLibrary, Kind: runfile.Encrypts}, 240, 8800},
	{runfile.Subject{Name: "slack", Role: runfile.RoleLibrary, Kind: runfile.Encrypts}, 1200, 9900},
	{runfile.Subject{Name: "abroad", Role: runfile.RoleSDK, Kind: runfile.Signs, Mirrors: "far", Slower: 3}, 10000, 18000},
	{runfile.Subject{Name: "overseas", Role: runfile.RoleSDK, Kind: runfile.Signs, Mirrors: "far", Slower: 3}, 12000, 22500},
	{runfile.Subject{Name: "enc-claims", Role: runfile.RoleScheme, Kind: runfile.Encrypts, Primitive: "X", Over: "enc"}, 700, 2500},
	{runfile.Subject{Name: "slack-claims", Role: runfile.RoleLibrary, Kind: runfile.Encrypts, Claims: true}, 4200, 25000},
	{runfile.Subject{Name: "web", Role: runfile.RoleLibrary, Kind: runfile.Signs}, 2000, 40000},
}

var simulatedOps = []runfile.Op{runfile.Seal, runfile.Unseal, runfile.UnsealRing, runfile.RefuseTag}

// text returns the run in the Go benchmark format.
func (s simulation) text(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	fmt.Fprintf(&b, "Unit allocs/op assume=exact\nUnit token-B assume=exact\nUnit token-B better=lower\n")
	fmt.Fprintf(&b, "goos: linux\ncpu: simulated%s\ncpus: 2\ntoolchain: go1\ncommit: c\ndirty: false\ndate: d\ncell: 20ms\n\n", s.stamp)
	for range s.rounds {
		drift := (1 + random.Float64()/10) * max(1, s.whole)
		for _, subject := range simulated {
			for _, op := range simulatedOps {
				s.line(&b, random, subject.Name, op, 64, drift*subject.small)
				s.line(&b, random, subject.Name, op, 8192, drift*subject.large)
			}
		}
	}
	return b.String()
}

func (s simulation) line(b *strings.Builder, random *rand.Rand, name string, op runfile.Op, size int, ns float64) {
	if factor, ok := s.slow[throughput.Place{Subject: name, Op: op, Size: size}]; ok {
		ns *= factor
	}
	ns *= math.Exp(s.noise * random.NormFloat64())
	fmt.Fprintf(b, "Benchmark%s-2 1000 %.4f ns/op 12 MB/s %d token-B 0 B/op %d allocs/op\n",
		runfile.Name(name, op, size), ns, size+50+s.size[name], s.allocs[name])
}

// write writes the run as a folder.
func (s simulation) write(t *testing.T, seed uint64) string {
	t.Helper()
	var subjects []runfile.Subject
	for _, subject := range simulated {
		subjects = append(subjects, subject.Subject)
	}
	list, err := json.Marshal(subjects)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, runfile.SubjectsFile), list, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, runfile.BenchFile), []byte(s.text(seed)), 0o644))
	return dir
}

func (s simulation) load(t *testing.T, seed uint64) *throughput.Run {
	t.Helper()
	run, err := throughput.Load(s.write(t, seed))
	require.NoError(t, err)
	return run
}

// quiet simulates a machine with the usual noise.
var quiet = simulation{rounds: 12, noise: 0.005}
