package mutate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/vectors"
)

const sample = `package sample

var errA = codecs.Reject(1, "a")

var Design = codecs.Design{NewCodec: func() (int, error) { return New(1) }}

func New(n int) (int, error) {
	if n < 0 || n > 9 {
		return 0, fmt.Errorf("no")
	}
	return n, nil
}

func (c *C) Unseal(dst []byte) ([]byte, error) {
	if ok := c.fits(dst); !ok {
		return dst, errA
	}
	switch {
	case len(dst) == 7:
		return dst, errA
	case len(dst) == 8:
		return dst, nil
	}
	return dst, nil
}

func (c *C) fits(dst []byte) bool {
	return len(dst) > 2 && dst[0] == 1
}

func (c *C) Seal(dst []byte) ([]byte, error) {
	if len(dst) == 3 {
		return nil, errA
	}
	return dst, nil
}

func unused(n int) bool { return n == 1 }
`

func sampleFile(t *testing.T) *sourceFile {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.go")
	require.NoError(t, os.WriteFile(path, []byte(sample), 0o644))
	f, err := parse("codecs/sample/sample.go", path)
	require.NoError(t, err)
	return f
}

func TestFindFindsWhatRefuses(t *testing.T) {
	var got []string
	for _, c := range find([]*sourceFile{sampleFile(t)}) {
		got = append(got, c.Func+" "+c.switched+": "+c.Text)
	}
	require.Equal(t, []string{
		"New Refuses: n < 0", "New Refuses: n > 9",
		"Unseal Refuses: !ok", "Unseal Refuses: len(dst) == 7",
		"fits Holds: len(dst) > 2", "fits Holds: dst[0] == 1",
	}, got)
}

func TestRewriteKeepsLines(t *testing.T) {
	f := sampleFile(t)
	b := &Build{Checks: find([]*sourceFile{f})}
	got := string(b.rewrite(f))
	require.Contains(t, got, `package sample; import "sealab/internal/mutant"`+"\n")
	require.Contains(t, got, "if mutant.Refuses(0, n < 0) || mutant.Refuses(1, n > 9) {\n")
	require.Contains(t, got, "if ok := c.fits(dst); mutant.Refuses(2, !ok) {\n")
	require.Contains(t, got, "return mutant.Holds(4, len(dst) > 2) && mutant.Holds(5, dst[0] == 1)\n")
	require.Contains(t, got, "if len(dst) == 3 {\n")
}

// root is the root of the module.
var root = filepath.Join("..", "..")

// TestExcusesAreOfChecks holds every excuse to a check that is there.
func TestExcusesAreOfChecks(t *testing.T) {
	files, err := sources(root)
	require.NoError(t, err)
	checks := find(files)
	require.Greater(t, len(checks), 200)
	there := map[string]bool{}
	for _, c := range checks {
		there[c.Key()] = true
	}
	for key, reason := range Excuses {
		require.True(t, there[key], "excused and gone: %s", key)
		require.NotEmpty(t, reason, key)
	}
}

func TestSumSortsResults(t *testing.T) {
	s := Sum([]Result{
		{Check{Text: "a"}, "d/base/00000000: accepted"},
		{Check{Text: "b"}, ""},
		{Check{Text: "c"}, Unreached},
	})
	require.Equal(t, 1, s.Guarded)
	require.Len(t, s.Open, 2)
	require.Len(t, s.Stale, len(Excuses))
}

// few is how many checks the test disables; `make mutate` disables all.
const few = 25

// TestVectorsNoticeALostCheck disables the first checks of the designs. It
// builds a program of its own and gives it every vector, which takes longer than
// a test should; the whole takes minutes.
func TestVectorsNoticeALostCheck(t *testing.T) {
	b, err := Prepare(root, t.TempDir())
	require.NoError(t, err)
	b.Checks = b.Checks[:few]
	dir, err := filepath.Abs(filepath.Join(root, vectors.Folder))
	require.NoError(t, err)
	results, err := b.Run(dir, time.Minute)
	require.NoError(t, err)
	require.Len(t, results, few)
	s := Sum(results)
	require.Empty(t, s.Open)
	require.NotZero(t, s.Guarded)
	t.Log(s)
}
