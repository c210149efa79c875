package targets_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/fuzz/targets"
	"sealab/internal/broken/injected"
	"sealab/internal/testenv"
)

// findEnv makes the test binary search with the named target. causesEnv makes it print the
// causes of all failures among that many inputs.
const (
	findEnv   = "SEALAB_TEST_FIND"
	causesEnv = "SEALAB_TEST_CAUSES"
)

var causesOf = flag.Int("causes", 3000, "inputs for each injected bug whose failures are put in buckets")

func TestMain(m *testing.M) {
	flag.Parse()
	if name := os.Getenv(findEnv); name != "" && os.Getenv(causesEnv) != "" {
		os.Exit(printCauses(name))
	} else if name != "" {
		os.Exit(find(name))
	}
	os.Exit(m.Run())
}

// slow are the bugs that take more than 2,000 executions to find.
var slow = map[string]bool{"alphabet": true, "claims-version": true, "dirty-refusal": true, "in-place": true, "line-break": true,
	"long-payload": true, "magic-word": true, "one-buffer": true, "padding": true, "rare-length": true, "short-key-id": true,
	"short-tag": true, "text-ends-at-nul": true}

// maxExecutions limits the search for one injected bug.
const maxExecutions = 3_000_000

// TestInjectedBugsAreFound injects one bug at a time. The target that must find it has to fail
// on a seed or a drawn input. Without bugs these inputs pass; see TestDrawnInputsPass. The
// search uses no coverage, so the limit is generous. Package experiment measures fuzzers.
func TestInjectedBugsAreFound(t *testing.T) {
	met := map[string]bool{} // targets that found a bug
	for _, bug := range injected.Bugs() {
		again := met[bug.Target]
		met[bug.Target] = again || !slow[bug.Name]
		t.Run(bug.Name, func(t *testing.T) {
			if again {
				testenv.SkipSample(t) // one bug per target
			}
			if testenv.Sample() && slow[bug.Name] {
				testenv.Skip(t, "-short or -race: the search takes up to a million executions; make matrices runs it whole")
			}
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			// Some bugs are data races. The target has to find them without the race detector.
			cmd.Env = append(os.Environ(), findEnv+"="+bug.Target, injected.Env+"="+bug.Name, "GORACE=exitcode=0 atexit_sleep_ms=0")
			output, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: not found: %s", bug.Doc, output)
			t.Logf("%s", output)
		})
	}
}

// TestOneCauseOneBucket injects five bugs, one at a time, and sorts the failures of many inputs
// into buckets as a campaign does: by the failed check, regardless of the design.
func TestOneCauseOneBucket(t *testing.T) {
	testenv.SkipSample(t)
	buckets, designs, faults := map[string]bool{}, map[string]bool{}, 0
	for _, bug := range injected.Bugs() {
		if faults == 5 || bug.Target != "contexts" {
			continue
		}
		faults++
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), findEnv+"="+bug.Target, injected.Env+"="+bug.Name, fmt.Sprintf("%s=%d", causesEnv, *causesOf), "GORACE=exitcode=0 atexit_sleep_ms=0")
		output, err := cmd.Output()
		require.NoError(t, err, "%s", output)
		of := map[string]bool{}
		for line := range strings.Lines(string(output)) {
			check, design, _ := strings.Cut(strings.TrimSpace(line), "\t")
			of[check], buckets[check], designs[design] = true, true, true
		}
		require.Len(t, of, 1, "%s: %q", bug.Name, slices.Sorted(maps.Keys(of)))
	}
	require.Equal(t, 5, faults)
	t.Logf("%d faults, %d designs, %d buckets", faults, len(designs), len(buckets))
	require.Len(t, buckets, faults)
}

// printCauses runs inputs of a target and prints the check and the design of each failure. It
// returns the exit status.
func printCauses(name string) int {
	target, err := targets.Find(name)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	seeds, err := target.Seeds()
	count, wrong := strconv.Atoi(os.Getenv(causesEnv))
	if err != nil || wrong != nil {
		fmt.Println(err, wrong)
		return 2
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range count {
		var check *harness.CheckError
		if err := target.Run(drawnFrom(seeds, random)); errors.As(err, &check) {
			fmt.Printf("%s\t%s\n", check.Check, check.Design)
		} else if err != nil {
			fmt.Printf("%q\t\n", err.Error())
		}
	}
	return 0
}

// TestDrawnInputsPass checks that the inputs of the search pass without a bug.
func TestDrawnInputsPass(t *testing.T) {
	count := 5000
	if testenv.Sample() {
		count = 250
	}
	for _, target := range targets.All() {
		if target.Missing != nil {
			continue
		}
		executions, failed := search(target, count)
		require.Empty(t, failed, "%s: after %d executions", target.Name, executions)
	}
}

// find searches with a target for a failure and returns the exit status.
func find(name string) int {
	target, err := targets.Find(name)
	if err != nil {
		fmt.Println(err)
		return 2
	}
	debug.SetGCPercent(harness.GCPercent)
	executions, failed := search(target, maxExecutions)
	fmt.Printf("%d executions: %.300s\n", executions, failed)
	if failed == "" {
		return 1
	}
	return 0
}

// search runs the seeds, and then inputs that continue with drawn choices. It returns the first
// failure.
func search(target targets.Target, limit int) (executions int, failed string) {
	seeds, err := target.Seeds()
	if err != nil {
		return 0, err.Error()
	}
	random := rand.New(rand.NewPCG(1, 2))
	for ; executions < limit; executions++ {
		input := drawnFrom(seeds, random)
		if executions < len(seeds) {
			input = seeds[executions]
		}
		if failed := outcome(target, input); failed != "" {
			return executions + 1, failed
		}
	}
	return executions, ""
}

// outcome runs one input and returns its failure as text, or "" if it passes.
func outcome(target targets.Target, input []byte) (failed string) {
	defer func() {
		if r := recover(); r != nil {
			failed = fmt.Sprintf("panic: %v", r)
		}
	}()
	if err := target.Run(input); err != nil {
		return err.Error()
	}
	return ""
}

// drawnFrom returns an input as a fuzz engine might make it: a seed with another first choice
// and another changed byte, which continues with drawn choices.
func drawnFrom(seeds [][]byte, random *rand.Rand) []byte {
	input := append([]byte(nil), seeds[random.IntN(len(seeds))]...)
	input = append(input, program.More+byte(random.IntN(64)))
	input[random.IntN(len(input)-1)] = byte(random.Uint32())
	input[0] = byte(random.Uint32())
	return input
}
