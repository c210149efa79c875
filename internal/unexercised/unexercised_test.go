package unexercised_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/unexercised"
)

// recorder stands in for a test.
type recorder struct {
	*testing.T
	skipped []any
}

func (r *recorder) Skip(args ...any) { r.skipped = args }

func TestSkipIsLogged(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(unexercised.LogEnv, log)
	r := &recorder{T: t}
	unexercised.Skip(r, "no %s here", "valgrind")
	unexercised.Skip(r, "no ruby here")

	const first = "unexercised: TestSkipIsLogged: no valgrind here"
	got, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, first+"\nunexercised: TestSkipIsLogged: no ruby here\n", string(got))
	require.Equal(t, []any{"unexercised: TestSkipIsLogged: no ruby here"}, r.skipped)
}
