package target_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(tt *testing.T, input []byte) {
		require.NoError(tt, t.Run(program.New(input)))
	})
}
