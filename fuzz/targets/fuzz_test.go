package targets_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/targets"
	"sealab/internal/testenv"
)

// fuzz runs a target as a native fuzz function.
func fuzz(f *testing.F, name string) {
	t, err := targets.Find(name)
	require.NoError(f, err)
	if missing := t.Unavailable(); missing != "" {
		testenv.Skip(f, "%s", missing)
	}
	fn, err := t.Func()
	require.NoError(f, err)
	require.NotEmpty(f, fn.Seeds)
	harness.Fuzz(f, fn)
}

// requirePasses runs inputs in order and requires the last one to pass. The regression tests of
// campaigns call it.
func requirePasses(t *testing.T, name string, inputs ...string) {
	t.Helper()
	found, err := targets.Find(name)
	require.NoError(t, err)
	var sequence [][]byte
	for _, input := range inputs {
		sequence = append(sequence, []byte(input))
	}
	require.NoError(t, harness.Sequence(found.Run, sequence...))
}

func TestRegressionsRun(t *testing.T) { requirePasses(t, "text", "") }

// TestRewrittenTime rewrites a token's time of issue before it is authenticated. The result is
// a valid token of another time.
func TestRewrittenTime(t *testing.T) {
	requirePasses(t, "inside", "\x00\x00\x04seCCC\apa\x83Aoad\x04\xa4\x89\x89\x89\x89\x89\x89\x00\x01~\x80")
}
