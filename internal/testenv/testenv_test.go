package testenv_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// recorder stands in for a test.
type recorder struct {
	*testing.T
	skipped []any
	failed  []string
}

func (r *recorder) Skip(args ...any) { r.skipped = args }

func TestSkipIsLogged(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(testenv.LogEnv, log)
	r := &recorder{T: t}
	testenv.Skip(r, "no %s here", "valgrind")
	testenv.Skip(r, "no ruby here")

	const first = "skipped: TestSkipIsLogged: no valgrind here"
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, first+"\nskipped: TestSkipIsLogged: no ruby here\n", string(got))
	require.Equal(t, []any{"skipped: TestSkipIsLogged: no ruby here"}, r.skipped)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func TestEqualLines(t *testing.T) {
	r := &recorder{T: t}
	testenv.EqualLines(r, "a\nb\n", "a\nb\n", "make it")
	require.Empty(t, r.failed)
	testenv.EqualLines(r, "a\nb\nc\n", "a\nB\nC\n", "make it")
	testenv.EqualLines(r, "a\nb", "a", "make it")
	require.Equal(t, []string{`line 2 is "B", want "b": make it`, `line 2 is missing, want "b": make it`}, r.failed)
}
