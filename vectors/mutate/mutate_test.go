package mutate

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
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
	//mutant:equivalent fits has no other way
	if ok := c.fits(dst); !ok {
		return dst, errA
	}
	switch {
	case len(dst) == 7:
		return dst, errA
	case len(dst) == 8:
		return dst, c.renew
	}
	return dst, nil
}

func (c *C) fits(dst []byte) bool {
	return len(dst) > 2 && dst[0] == 1 //mutant:equivalent the second
}

// renew runs apart from Unseal.
//
//mutant:equivalent no vector calls renew
func (c *C) renew(n int) bool {
	if n > 3 {
		return false
	}
	return n != 1
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
		text := c.Func + " " + c.switched + ": " + c.Text
		if c.Mark != nil {
			text += " (" + c.Mark.Reason + ")"
		}
		got = append(got, text)
	}
	require.Equal(t, []string{
		"New Refuses: n < 0", "New Refuses: n > 9",
		"Unseal Refuses: !ok (fits has no other way)", "Unseal Refuses: len(dst) == 7",
		"fits Holds: len(dst) > 2 (the second)", "fits Holds: dst[0] == 1 (the second)",
		"renew Refuses: n > 3 (no vector calls renew)", "renew Holds: n != 1 (no vector calls renew)",
	}, got)
}

func TestRewriteKeepsLines(t *testing.T) {
	f := sampleFile(t)
	b := &Build{Checks: find([]*sourceFile{f})}
	got := string(b.rewrite(f))
	require.Contains(t, got, `package sample; import "sealab/internal/mutant"`+"\n")
	require.Contains(t, got, "if mutant.Refuses(0, n < 0) || mutant.Refuses(1, n > 9) {\n")
	require.Contains(t, got, "if ok := c.fits(dst); mutant.Refuses(2, !ok) {\n")
	require.Contains(t, got, "return mutant.Holds(4, len(dst) > 2) && mutant.Holds(5, dst[0] == 1) //")
	require.Contains(t, got, "if len(dst) == 3 {\n")
}

// root is the root of the module.
var root = filepath.Join("..", "..")

// TestMarksAreOfChecks checks that each mark belongs to a check and has a reason, and that every design
// has checks.
func TestMarksAreOfChecks(t *testing.T) {
	files, err := sources(t.Context(), root)
	require.NoError(t, err)
	at, folders := map[*Mark]bool{}, map[string]int{}
	for _, c := range find(files) {
		at[c.Mark] = true
		folders[path.Dir(c.File)]++
	}
	marks := 0
	for _, f := range files {
		for _, m := range f.marks {
			require.True(t, at[m], "%s:%d: a mark and no check", m.File, m.Line)
			require.NotEmpty(t, strings.TrimSpace(m.Reason), "%s:%d", m.File, m.Line)
			marks++
		}
	}
	require.Greater(t, marks, 50)
	for _, p := range []string{"codecs/rmcp", "codecs/mcpts", "codecs/iron", "codecs/internal/keyring"} {
		require.NotZero(t, folders[p], p)
	}
}

func TestSumSortsResults(t *testing.T) {
	one, two, three := &Mark{Reason: "one"}, &Mark{Reason: "two"}, &Mark{Reason: "three", Varies: true}
	s := Sum([]Result{
		{Check{Text: "a"}, "d/base/00000000: accepted"},
		{Check{Text: "b"}, ""},
		{Check{Text: "c"}, Idle},
		{Check{Text: "d", Mark: one}, "d/base/00000000: accepted"},
		{Check{Text: "e", Mark: one}, Idle},
		{Check{Text: "f", Mark: two}, "d/base/00000000: accepted"},
		{Check{Text: "g", Mark: three}, "d/base/00000000: accepted"},
	})
	require.Equal(t, 4, s.Guarded)
	require.Len(t, s.Redundant, 1)
	require.Len(t, s.Open, 1)
	require.Len(t, s.Excused, 1)
	require.Equal(t, []*Mark{two}, s.Stale)
}

// few is the number of checks that the test disables. `make mutate` disables all.
const few = 25

// TestVectorsNoticeALostCheck disables the first checks of the designs. It builds its own program and runs
// every vector, which is slow. Disabling all checks takes minutes.
func TestVectorsNoticeALostCheck(t *testing.T) {
	testenv.SkipShort(t)
	b, err := Prepare(t.Context(), root, t.TempDir())
	require.NoError(t, err)
	b.Checks = b.Checks[:few]
	dir, err := filepath.Abs(filepath.Join(root, vectors.Folder))
	require.NoError(t, err)
	results, err := b.Run(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, results, few)
	s := Sum(results)
	require.Empty(t, s.Open)
	require.NotZero(t, s.Guarded)
	t.Log(s)
}
