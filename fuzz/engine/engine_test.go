package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// TestCounters compares the fast functions with their definitions, byte by byte.
func TestCounters(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 3 * pageSize {
		base, counters, rounded := make([]byte, size), make([]byte, size), make([]byte, size)
		for range 20 {
			want, isNew, quiet := make([]byte, size), 0, random.IntN(3*pageSize)
			for i := range counters {
				counters[i], base[i] = few(random), few(random)
				if quiet <= i && i < quiet+2*pageSize {
					counters[i] = 0
				}
				want[i] = byte(uint(1) << bits.Len8(counters[i]) >> 1)
				isNew += bits.OnesCount8(want[i] &^ base[i])
			}
			roundCounters(rounded, counters)
			require.Equal(t, want, rounded, "%x", counters)
			require.Equal(t, isNew, countNew(base, rounded), "%x beside %x", rounded, base)
		}
	}
}

// few returns 0 most of the time, like real counters.
func few(random *rand.Rand) byte {
	if random.IntN(4) > 0 {
		return 0
	}
	return byte(random.Uint32())
}

// TestOverlay fuzzes with the faster engine. Its counters must lead to the top of the ladder,
// and Output must parse its statistics.
func TestOverlay(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	overlay, err := Overlay(strings.TrimSpace(string(goroot)), dir)
	if errors.Is(err, errUnknown) {
		testenv.Skip(t, "%v", err)
	}
	require.NoError(t, err)
	climb(t, dir, "-overlay="+overlay)
}

// TestToolchainEngine does the same with the fallback, the engine of the toolchain.
func TestToolchainEngine(t *testing.T) {
	if testing.Short() {
		testenv.Skip(t, "-short: it builds and fuzzes as TestOverlay does")
	}
	climb(t, t.TempDir())
}

// climb builds the ladder with the given flags and fuzzes it.
func climb(t *testing.T, dir string, flags ...string) {
	t.Helper()
	binary := filepath.Join(dir, "fuzz.test")
	args := append(append([]string{"test", "-c", "-o", binary}, BuildFlags([]string{"sealab/fuzz/engine/testdata/ladder"})...), flags...)
	out, err := exec.Command("go", append(args, "./testdata/ladder")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	climb := exec.Command(binary, "-test.run=^$", "-test.fuzz=FuzzLadder", "-test.fuzztime=50000000x", "-test.fuzzcachedir="+filepath.Join(dir, "cache"), "-test.parallel=1")
	climb.Dir, climb.Env = dir, append(os.Environ(), ProcessEnv...)
	out, err = climb.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "the top of the ladder")

	flat := exec.Command(binary, "-test.run=^$", "-test.fuzz=FuzzFlat", "-test.fuzztime=1000x", "-test.fuzzcachedir="+filepath.Join(dir, "cache"), "-test.parallel=1")
	flat.Dir, flat.Env = dir, append(os.Environ(), ProcessEnv...)
	out, err = flat.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var parsed Output
	require.NoError(t, parsed.Read(strings.NewReader(string(out)), func(Count) {}))
	require.False(t, parsed.Blind)
	require.False(t, parsed.None)
	require.Positive(t, parsed.Coverage, "%s", out)
	require.GreaterOrEqual(t, parsed.Executions, int64(1000), "%s", out)

	missing := exec.Command(binary, "-test.run=^$", "-test.fuzz=FuzzMissing", "-test.fuzztime=1000x", "-test.fuzzcachedir="+filepath.Join(dir, "cache"))
	missing.Dir = dir
	out, err = missing.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, parsed.Read(strings.NewReader(string(out)), func(Count) {}))
	require.True(t, parsed.None, "%s", out)
}

// TestFeatures runs a program with coverage. The counters of this toolchain must be in the
// known format.
func TestFeatures(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "covered")
	out, err := exec.Command("go", "build", "-cover", "-covermode=atomic", "-o", binary, "./testdata/covered").CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var few, many int
	_, err = fmt.Sscan(string(out), &few, &many)
	require.NoError(t, err, "%s", out)
	require.Greater(t, few, 1, "one feature is the fallback for an unknown format")
	require.Greater(t, many, few)
}

func TestParseCountersRefuses(t *testing.T) {
	endless := append([]byte{0, 'c', 'w', 'm', countersVersion}, make([]byte, 64)...)
	endless[24], endless[countersHeader+7] = flavorRaw, 0x10 // 2^60 functions
	for _, file := range [][]byte{nil, bytes.Repeat([]byte{0}, 64), append([]byte{0, 'c', 'w', 'm', 2}, make([]byte, 64)...), endless} {
		_, err := parseCounters(file)
		require.ErrorIs(t, err, errCounters)
	}
}

// TestUnknown checks that an unknown source gives errUnknown, with the name of the function.
func TestUnknown(t *testing.T) {
	const source = "package fuzz\n\nfunc f() { g(); g() }\n"
	for _, e := range []edit{{function: "h", to: "{}"}, {function: "f", from: "g()", to: "0"}, {function: "f", from: "h()", to: "0"}} {
		_, err := e.apply(source)
		require.ErrorIs(t, err, errUnknown)
		require.ErrorContains(t, err, e.function)
	}
	_, err := edit{function: "f", to: "{}"}.apply("no Go")
	require.ErrorIs(t, err, errUnknown)
	_, err = Overlay(t.TempDir(), t.TempDir())
	require.ErrorIs(t, err, errUnknown)
	require.ErrorIs(t, err, os.ErrNotExist)
}
