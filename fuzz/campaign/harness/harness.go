// Package harness is what stands between a fuzz engine and a target: it makes
// one fuzz function serve plain go test -fuzz, a campaign of many days, and the
// replay of single inputs.
//
// Plainly run, a failing input fails the test. In a campaign (the environment
// names its folder) each input is written down in memory that outlives the
// process before it runs; a failure is filed in the bucket of its stack or
// message, once, and the run goes on; an input that hangs or asks for too much
// memory ends the process with what it was doing on record. A campaign needs a
// Unix system; plain runs do not.
//
// What does not return to the fuzz function's own goroutine (a panic in another
// one, a fatal error of the runtime) ends the process. Memory is limited by
// RLIMIT_DATA, which counts what the process may write to, not what it touches.
package harness

import (
	"os"
	"runtime/debug"
	"testing"
)

// GCPercent is how much may be allocated between collections, in percent of what
// is in use. Targets hold some megabytes and allocate a hundred times that in a
// second: at Go's own 100, collecting takes up to a third of the time.
const GCPercent = 400

// Fuzz runs the subject as f.
func Fuzz(f *testing.F, s Subject) {
	f.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(GCPercent))
	switch {
	case os.Getenv(EnvInput) != "":
		if err := runInput(os.Getenv(EnvInput), f.TempDir(), s.Run); err != nil {
			f.Fatal(err)
		}
		f.Skip("the input holds")
	case os.Getenv(EnvJob) != "":
		if err := runJob(os.Getenv(EnvJob), s); err != nil {
			f.Fatal(err)
		}
		f.Skip("a job was run instead")
	case os.Getenv(EnvCrashers) != "":
		addAll(f, s.Seeds)
		g, err := newGuard(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Fuzz(func(t *testing.T, input []byte) {
			if err := g.run(input); err != nil {
				t.Error(err) // and not Fatal: see package engine
			}
		})
	default:
		addAll(f, s.Seeds)
		f.Fuzz(plain(s.Run))
	}
}

func addAll(f *testing.F, seeds [][]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
}

func plain(run func(input []byte) error) func(*testing.T, []byte) {
	return func(t *testing.T, input []byte) {
		if err := run(input); err != nil {
			t.Fatal(err)
		}
	}
}
