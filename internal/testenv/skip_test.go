package testenv_test

import (
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
