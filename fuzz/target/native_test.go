package target_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/harness"
	"sealab/fuzz/program"
	"sealab/fuzz/target"
)

// One native fuzz target each; TestEveryTargetIsNative holds the list complete.

func FuzzText(f *testing.F)       { fuzz(f, "text") }
func FuzzInside(f *testing.F)     { fuzz(f, "inside") }
func FuzzRelations(f *testing.F)  { fuzz(f, "relations") }
func FuzzPrimitives(f *testing.F) { fuzz(f, "primitives") }

func fuzz(f *testing.F, name string) {
	t, err := target.Find(name)
	require.NoError(f, err)
	seeds, err := t.Seeds()
	require.NoError(f, err)
	require.NotEmpty(f, seeds)
	harness.Fuzz(f, name, seeds, func(input []byte) error { return t.Run(program.New(input)) })
}

// requireHolds runs one input, for the regression tests that campaigns write.
func requireHolds(t *testing.T, name, input string) {
	t.Helper()
	found, err := target.Find(name)
	require.NoError(t, err)
	require.NoError(t, found.Run(program.New([]byte(input))))
}

func TestRegressionsRun(t *testing.T) { requireHolds(t, "text", "") }
