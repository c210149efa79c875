package targets_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/fuzz/targets"
	"sealab/internal/broken/injected"
	"sealab/internal/testenv"
)

// findEnv makes the test binary search with the target of that name.
const findEnv = "SEALAB_TEST_FIND"

func TestMain(m *testing.M) {
	flag.Parse()
	if name := os.Getenv(findEnv); name != "" {
		os.Exit(find(name))
	}
	os.Exit(m.Run())
}

// slow are the bugs that take more than 20,000 executions.
var slow = map[string]bool{"alphabet": true, "claims-escape": true, "line-break": true, "long-payload": true, "magic-word": true,
	"one-buffer": true, "padding": true, "rare-length": true, "short-key-id": true, "text-ends-at-nul": true}

// maxExecutions limits the search for one injected bug.
const maxExecutions = 3_000_000

// TestInjectedBugsAreFound injects one bug at a time: the target that must find
// it has to fail on a seed or a drawn input. Without a bug the inputs pass; see
// TestDrawnInputsPass. The search has no coverage, so the limit is generous; the
// experiment of fuzz/experiment measures fuzzers.
func TestInjectedBugsAreFound(t *testing.T) {
	for _, bug := range injected.Bugs() {
		t.Run(bug.Name, func(t *testing.T) {
			if testenv.Sample() && slow[bug.Name] {
				testenv.Skip(t, "-short or -race: the search takes up to a million executions; make test runs it whole")
			}
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			// Some bugs are data races: the target has to find them, and not the
			// race detector.
			cmd.Env = append(os.Environ(), findEnv+"="+bug.Target, injected.Env+"="+bug.Name, "GORACE=exitcode=0 atexit_sleep_ms=0")
			output, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: not found: %s", bug.Doc, output)
			t.Logf("%s", output)
		})
	}
}

// TestDrawnInputsPass requires the inputs of the search to pass without a bug.
func TestDrawnInputsPass(t *testing.T) {
	count := 5000
	if testenv.Sample() {
		count = 500
	}
	for _, target := range targets.All() {
		if target.Missing != nil {
			continue
		}
		executions, failed := search(target, count)
		require.Empty(t, failed, "%s: after %d executions", target.Name, executions)
	}
}

// find searches with a target and returns the exit status.
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

// search runs the seeds and then inputs that continue with drawn choices, and
// returns the first failure.
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

// outcome runs one input and returns its failure as text, "" if it passes.
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

// drawnFrom returns an input as fuzz engines make them: a seed with another first
// choice and another byte, which continues with drawn choices.
func drawnFrom(seeds [][]byte, random *rand.Rand) []byte {
	input := append([]byte(nil), seeds[random.IntN(len(seeds))]...)
	input = append(input, program.More+byte(random.IntN(64)))
	input[random.IntN(len(input)-1)] = byte(random.Uint32())
	input[0] = byte(random.Uint32())
	return input
}
