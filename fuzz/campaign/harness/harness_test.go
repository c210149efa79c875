package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

const stack = `goroutine 35 [running]:
runtime/debug.Stack()
	/go/src/runtime/debug/stack.go:26 +0x5e
panic({0x5f1a60?, 0xc00001e1b0?})
	/go/src/runtime/panic.go:783 +0x132
sealab/codecs/x.(*parser[...]).value(0xc0000a, 0x3)
	/src/codecs/x/parse.go:40 +0x1d
sealab/codecs/x.(*parser[...]).value(0xc0000b, 0x4)
	/src/codecs/x/parse.go:44 +0x1d
sealab/codecs/x.Open.func1.2()
	/src/codecs/x/open.go:12 +0x1d
sealab/fuzz/campaign/harness.observe(0x1, {0x2, 0x3, 0x4})
	/src/fuzz/harness/verdict.go:40 +0x1d
sealab/codecs/x_test.FuzzOpen(0x1)
	/src/codecs/x_test.go:1 +0x1d
created by testing.(*F).Fuzz.func1 in goroutine 1
	/go/src/testing/fuzz.go:311 +0x1

goroutine 1 [chan receive]:
main.main()
`

// TestBucket checks that failures with one cause share a bucket and others do not.
func TestBucket(t *testing.T) {
	replace := func(from, to string) string { return strings.ReplaceAll(stack, from, to) }
	require.Equal(t, stackBucket(KindPanic, "index 3", stack), stackBucket(KindPanic, "index 4", replace("0xc0000", "0xc0777")))
	require.NotEqual(t, stackBucket(KindPanic, "", stack), stackBucket(KindPanic, "", replace("x.Open", "x.Seal")))
	require.NotEqual(t, stackBucket(KindPanic, "", stack), stackBucket(KindFatal, "", stack))

	said := func(text string) string { return stackBucket(KindError, text, "") }
	require.Equal(t, said(`some-design: "a\"b" is accepted beside "c", 12`), said(`some-design: "" is accepted beside "d", 7`))
	require.NotEqual(t, said(`some-design: "a" is accepted`), said(`some-design: "a" is refused`))
}

// TestCheckErrors checks that failures of the same check share a bucket in all designs.
func TestCheckErrors(t *testing.T) {
	failing := func(check, design, detail string) *Failure {
		return observe(func([]byte) error { return fmt.Errorf("in a sequence: %w", &CheckError{check, design, detail}) }, nil)
	}
	one := failing("an altered token is accepted", "one-design", `"v1.AA"`)
	other := failing("an altered token is accepted", "other-design", `"v2.BB" beside "c"`)
	require.Equal(t, one.Bucket, other.Bucket)
	require.Equal(t, "other-design", other.Design)
	require.Equal(t, `in a sequence: an altered token is accepted: one-design: "v1.AA"`, one.Text)
	require.NotEqual(t, one.Bucket, failing("opening changed the token", "one-design", "").Bucket)
}

// TestShrinkExplicit shrinks an input whose drawn choices fail. The result must encode these
// choices.
func TestShrinkExplicit(t *testing.T) {
	s := Func{Explicit: func(input []byte) []byte {
		return bytes.ReplaceAll(input, []byte("*"), []byte("drawn and X"))
	}}
	fails := func(input []byte) (*Failure, error) {
		if bytes.Contains(s.Explicit(input), []byte("X")) {
			return newFailure(KindError, "it has an X", ""), nil
		}
		return nil, nil
	}
	var out bytes.Buffer
	require.NoError(t, Job{Inputs: [][]byte{[]byte("more*")}, Tries: 100}.shrink(json.NewEncoder(&out), s, fails))
	var result Result
	require.NoError(t, json.Unmarshal(out.Bytes(), &result))
	require.Equal(t, "X", string(result.Input))

	out.Reset() // an input that fails only in its drawn form
	s.Explicit = func([]byte) []byte { return nil }
	fails = func(input []byte) (*Failure, error) {
		if bytes.Contains(input, []byte("*")) {
			return newFailure(KindError, "it has a star", ""), nil
		}
		return nil, nil
	}
	require.NoError(t, Job{Inputs: [][]byte{[]byte("more*")}, Tries: 100}.shrink(json.NewEncoder(&out), s, fails))
	require.NoError(t, json.Unmarshal(out.Bytes(), &result))
	require.Equal(t, "*", string(result.Input))
}

func TestShrink(t *testing.T) {
	input := bytes.Repeat([]byte("noise"), 40)
	input[17], input[90] = 'X', 'Y'
	asked := 0
	fails := func(b []byte) bool {
		asked++
		x, y := bytes.IndexByte(b, 'X'), bytes.IndexByte(b, 'Y')
		return x >= 0 && y > x
	}
	require.Equal(t, "XY", string(Shrink(input, 10_000, fails)))
	asked = 0
	require.True(t, fails(Shrink(input, 5, fails)))
	require.LessOrEqual(t, asked, 7)

	// Until a length is zero, the bytes that it counts cannot be removed.
	counted := func(b []byte) bool { return len(b) > int(append(b, 255)[0]) }
	require.Equal(t, []byte{0}, Shrink([]byte("\x05abcde"), 100, counted))
}

// TestInputLog reads the running input of a process from the file only.
func TestInputLog(t *testing.T) {
	dir := t.TempDir()
	n, err := newInputLog(logPath(dir, 7), roomForInput)
	if errors.Is(err, errors.ErrUnsupported) {
		testenv.Skip(t, "no memory-mapped files here")
	}
	require.NoError(t, err)
	large := bytes.Repeat([]byte("large"), roomForInput)
	for _, input := range [][]byte{[]byte("small"), large, {}} {
		require.NoError(t, n.begin(input))
		running, err := ReadInterrupted(dir)
		require.NoError(t, err)
		require.Len(t, running, 1)
		require.True(t, bytes.Equal(input, running[0].Input))
		n.end()
		running, err = ReadInterrupted(dir)
		require.NoError(t, err)
		require.Empty(t, running)
	}
	require.NoError(t, os.WriteFile(logPath(dir, 8), []byte("torn"), 0o644))
	_, err = ReadInterrupted(dir)
	require.ErrorContains(t, err, logPath(dir, 8))
}

// TestFile checks that the first crasher of a bucket is kept, complete.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	v := newFailure(KindError, "it does not hold", "")
	require.NoError(t, File(dir, []byte("first"), nil, v))
	require.NoError(t, File(dir, []byte("second"), nil, v))
	input, err := os.ReadFile(filepath.Join(dir, v.Bucket, InputFile))
	require.NoError(t, err)
	require.Equal(t, "first", string(input))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.ErrorContains(t, File(filepath.Join(dir, v.Bucket, InputFile), nil, nil, v), InputFile)
}

// TestFileAddsDesigns checks that a bucket keeps one crasher and every design.
func TestFileAddsDesigns(t *testing.T) {
	dir := t.TempDir()
	f := newFailure(KindError, "a check fails", "")
	for _, design := range []string{"b", "a", "b", "we/../ird"} {
		f.Design = design
		require.NoError(t, File(dir, []byte("input of "+design), nil, f))
	}
	designs, err := ReadSeen(filepath.Join(dir, f.Bucket))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "we_.._ird"}, designs)
	input, err := os.ReadFile(filepath.Join(dir, f.Bucket, InputFile))
	require.NoError(t, err)
	require.Equal(t, "input of b", string(input))
}

func TestObserve(t *testing.T) {
	require.Nil(t, observe(func([]byte) error { return nil }, nil))
	v := observe(func([]byte) error { return errors.New("no") }, nil)
	require.Equal(t, KindError, v.Kind)
	v = observe(func(b []byte) error { _ = b[3]; return nil }, nil)
	require.Equal(t, KindPanic, v.Kind)
	require.Contains(t, v.Text, "index out of range")
}

func TestGreedy(t *testing.T) {
	sets := [][]int32{{0, 1}, {1, 2, 3}, {3}, {0, 1, 2}, {4}, {9}}
	inputs := make([][]byte, len(sets))
	must := []bool{false, false, true, false, false, false}
	covered := make([]bool, 10)
	markCovered(covered, []int32{9})
	kept := greedyCover(sets, must, covered, inputs)
	require.Equal(t, []int{2, 3, 4}, kept)
}
