package target_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/target"
	"sealab/internal/testenv"
)

// One native fuzz target each; TestEveryTargetIsNative holds the list complete.

func FuzzText(f *testing.F)       { fuzz(f, "text") }
func FuzzInside(f *testing.F)     { fuzz(f, "inside") }
func FuzzClaims(f *testing.F)     { fuzz(f, "claims") }
func FuzzRelations(f *testing.F)  { fuzz(f, "relations") }
func FuzzSequences(f *testing.F)  { fuzz(f, "sequences") }
func FuzzContexts(f *testing.F)   { fuzz(f, "contexts") }
func FuzzReadings(f *testing.F)   { fuzz(f, "readings") }
func FuzzRemote(f *testing.F)     { fuzz(f, "remote") }
func FuzzPrimitives(f *testing.F) { fuzz(f, "primitives") }
func FuzzJson(f *testing.F)       { fuzz(f, "json") }
func FuzzPython(f *testing.F)     { fuzz(f, "python") }
func FuzzServing(f *testing.F)    { fuzz(f, "serving") }
func FuzzAnswers(f *testing.F)    { fuzz(f, "answers") }
func FuzzPeers(f *testing.F)      { fuzz(f, "peers") }

func fuzz(f *testing.F, name string) {
	t, err := target.Find(name)
	require.NoError(f, err)
	if missing := t.Unavailable(); missing != "" {
		testenv.Skip(f, "%s", missing)
	}
	s, err := t.Subject()
	require.NoError(f, err)
	require.NotEmpty(f, s.Seeds)
	harness.Fuzz(f, s)
}

// requirePasses runs inputs in order, of which the last must hold, for the
// regression tests that campaigns write.
func requirePasses(t *testing.T, name string, inputs ...string) {
	t.Helper()
	found, err := target.Find(name)
	require.NoError(t, err)
	var sequence [][]byte
	for _, input := range inputs {
		sequence = append(sequence, []byte(input))
	}
	require.NoError(t, harness.Sequence(found.Run, sequence...))
}

func TestRegressionsRun(t *testing.T) { requirePasses(t, "text", "") }
