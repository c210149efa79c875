package harness

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// TestInputLogRemembers checks that the log keeps the last inputs in order, wherever they lie
// in the ring, and drops any that are partly overwritten.
func TestInputLogRemembers(t *testing.T) {
	const seed, room = 1, 1000
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	n, err := newInputLog(logPath(dir, 7), room)
	if errors.Is(err, errors.ErrUnsupported) {
		testenv.Skip(t, "no memory-mapped files here")
	}
	require.NoError(t, err)
	require.Empty(t, n.before())
	var all [][]byte
	for i := range 300 {
		input := make([]byte, random.IntN(room/5))
		binary.LittleEndian.AppendUint32(input[:0], uint32(i))
		require.NoError(t, n.begin(input))
		kept := n.before()
		require.LessOrEqual(t, len(kept), len(all))
		for j, k := range kept {
			require.Equal(t, string(all[len(all)-len(kept)+j]), string(k), "before input %d", i)
		}
		bytes := len(input) + recordTrailer
		for _, k := range kept {
			bytes += len(k) + recordTrailer
		}
		require.LessOrEqual(t, bytes, room)
		if len(kept) < len(all) { // one more would not have fit
			require.Greater(t, bytes+len(all[len(all)-len(kept)-1])+recordTrailer, room, "before input %d", i)
		}
		n.end()
		all = append(all, input)
	}
	require.Less(t, len(n.before()), len(all)-1)
}

func TestParseLogRefuses(t *testing.T) {
	for _, file := range []string{
		"torn",
		"\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ring", // running, but nothing was written
		"\x01\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff",
	} {
		_, _, ok := parseLog([]byte(file))
		require.False(t, ok, "%q", file)
	}
}

// TestSequence checks that the results of earlier inputs are ignored.
func TestSequence(t *testing.T) {
	var ran []string
	run := func(input []byte) error {
		ran = append(ran, string(input))
		_ = input[1] // "a" panics
		return fmt.Errorf("no %s", input)
	}
	require.EqualError(t, Sequence(run, []byte("a"), []byte("bb"), []byte("cc")), "no cc")
	require.Equal(t, []string{"a", "bb", "cc"}, ran)
}

func TestReadHistory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"02", "10", "01"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644))
	}
	inputs, err := readInputs(dir)
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("01"), []byte("02"), []byte("10")}, inputs)
	inputs, err = readInputs(filepath.Join(dir, "nowhere"))
	require.NoError(t, err)
	require.Empty(t, inputs)
}

// TestFileKeepsWhatRanBefore reads back the earlier inputs of a crasher.
func TestFileKeepsWhatRanBefore(t *testing.T) {
	dir := t.TempDir()
	v := newFailure(KindError, "it does not hold", "")
	before := [][]byte{[]byte("first"), []byte("second")}
	require.NoError(t, File(dir, []byte("last"), before, v))
	file, err := os.ReadFile(filepath.Join(dir, v.Bucket, BeforeFile))
	require.NoError(t, err)
	got, err := DecodeBefore(file)
	require.NoError(t, err)
	require.Equal(t, before, got)
	_, err = DecodeBefore(file[:len(file)-1])
	require.ErrorContains(t, err, "want a list of inputs")
}

func TestShrinkList(t *testing.T) {
	var inputs [][]byte
	for i := range 100 {
		inputs = append(inputs, []byte{byte(i)})
	}
	fails := func(list [][]byte) bool {
		has := map[byte]bool{}
		for _, input := range list {
			has[input[0]] = true
		}
		return has[17] && has[80]
	}
	require.Equal(t, [][]byte{{17}, {80}}, ShrinkList(inputs, 1000, fails))
	require.True(t, fails(ShrinkList(inputs, 5, fails)))
	require.Len(t, inputs, 100)
	require.Equal(t, []byte{99}, inputs[99], "the list that was given stays as it was")
}
