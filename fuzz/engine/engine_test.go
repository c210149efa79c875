package engine

import (
	"errors"
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

// TestCounters compares with the definitions, byte by byte.
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

// few returns 0 most of the time, as counters are.
func few(random *rand.Rand) byte {
	if random.IntN(4) > 0 {
		return 0
	}
	return byte(random.Uint32())
}

// TestOverlay builds a fuzz test with the faster engine, which has to find what
// only its counters lead to.
func TestOverlay(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	overlay, err := Overlay(strings.TrimSpace(string(goroot)), dir)
	if errors.Is(err, ErrUnknown) {
		testenv.Skip(t, "%v", err)
	}
	require.NoError(t, err)
	binary := filepath.Join(dir, "fuzz.test")
	out, err := exec.Command("go", "test", "-c", "-fuzz=.", "-overlay="+overlay, "-o", binary, "./testdata/ladder").CombinedOutput()
	require.NoError(t, err, "%s", out)
	climb := exec.Command(binary, "-test.run=^$", "-test.fuzz=FuzzLadder", "-test.fuzztime=2000000x", "-test.fuzzcachedir="+filepath.Join(dir, "cache"), "-test.parallel=1")
	climb.Dir = dir
	out, err = climb.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "the top of the ladder")
}

// TestUnknown holds that an engine that looks different is refused by name.
func TestUnknown(t *testing.T) {
	const source = "package fuzz\n\nfunc f() { g(); g() }\n"
	for _, e := range []edit{{function: "h", to: "{}"}, {function: "f", from: "g()", to: "0"}, {function: "f", from: "h()", to: "0"}} {
		_, err := e.apply(source)
		require.ErrorIs(t, err, ErrUnknown)
		require.ErrorContains(t, err, e.function)
	}
	_, err := edit{function: "f", to: "{}"}.apply("no Go")
	require.ErrorIs(t, err, ErrUnknown)
	_, err = Overlay(t.TempDir(), t.TempDir())
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, os.ErrNotExist)
}
