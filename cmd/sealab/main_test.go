package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// TestMain lets the test binary act as the sealab command, so that the scripts
// run the same command as a user.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sealab": main, "misbehaving": misbehaving})
}

// runScripts runs the scripts of a folder as a user types them.
func runScripts(t *testing.T, dir string, setup func(*testscript.Env) error) {
	t.Helper()
	runWith(t, testscript.Params{Dir: dir}, setup)
}

// runWith runs scripts. GORACE removes the sleep of a second at the exit of a
// command with the race detector. GOGC reduces garbage collection, because
// hundreds of short commands start.
func runWith(t *testing.T, p testscript.Params, setup func(*testscript.Env) error) {
	t.Helper()
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("GORACE", "atexit_sleep_ms=0")
		e.Setenv("GOGC", "400")
		return setup(e)
	}
	testscript.Run(t, p)
}

// leftOut maps scripts to the condition under which they are skipped: long ones
// under -short, and those without goroutines of their own under the race
// detector, which makes a command start several times more slowly.
var leftOut = map[string]func(testenv.T){
	"attack":        testenv.SkipShort,
	"attack_budget": testenv.SkipShort,
	"differential":  testenv.SkipShort,
	"faults":        testenv.SkipShort,
	"fuzz":          testenv.SkipShort,
	"misbehaving":   testenv.SkipShort,
	"review":        testenv.SkipShort,

	"bench":   testenv.SkipSample,
	"forms":   testenv.SkipSample,
	"leak":    testenv.SkipSample,
	"replay":  testenv.SkipSample,
	"site":    testenv.SkipSample,
	"vectors": testenv.SkipSample,

	"check":           testenv.SkipRace,
	"choose":          testenv.SkipRace,
	"compare":         testenv.SkipRace,
	"compare_formats": testenv.SkipRace,
	"identify":        testenv.SkipRace,
	"inspect":         testenv.SkipRace,
	"list":            testenv.SkipRace,
	"sdks":            testenv.SkipRace,
	"seal":            testenv.SkipRace,
	"usage":           testenv.SkipRace,
	"version":         testenv.SkipRace,
}

// TestScripts runs the commands of testdata/script.
func TestScripts(t *testing.T) {
	verdicts, err := filepath.Abs(filepath.Join("testdata", "verdicts"))
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		names = append(names, name)
		t.Run(name, func(t *testing.T) {
			if skip := leftOut[name]; skip != nil {
				skip(t)
			}
			t.Parallel()
			runWith(t, testscript.Params{Files: []string{file}}, func(e *testscript.Env) error {
				e.Setenv("VERDICTS", verdicts)
				return nil
			})
		})
	}
	require.Subset(t, names, slices.Collect(maps.Keys(leftOut)))
}

// TestSlowScripts runs the commands of testdata/script_slow, which need much
// time or memory.
func TestSlowScripts(t *testing.T) {
	testenv.SkipSample(t)
	runScripts(t, "testdata/script_slow", func(*testscript.Env) error { return nil })
}
