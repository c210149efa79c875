package targets_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/fuzz/campaign/harness"
	"sealab/fuzz/program"
	"sealab/fuzz/targets"
)

func TestTargetsAreDescribed(t *testing.T) {
	for _, tt := range targets.All() {
		require.NotEmpty(t, tt.Doc, tt.Name)
		require.NotEmpty(t, tt.Layer, tt.Name)
		found, err := targets.Find(tt.Name)
		require.NoError(t, err)
		require.Equal(t, tt.Name, found.Name)
		seeds, err := tt.Seeds()
		require.NoError(t, err, tt.Name)
		require.NotEmpty(t, seeds, tt.Name)
	}
	_, err := targets.Find("none")
	require.ErrorContains(t, err, `no fuzz target "none"`)
}

// TestReadmeListsTargets checks that the README has a row for each target.
func TestReadmeListsTargets(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	for _, target := range targets.All() {
		require.Regexp(t, "(?m)^\\| .*`"+target.Name+"`.* \\|", string(readme))
	}
}

// TestUnsupportedIsNoFailure checks that a state that the format cannot carry is not a failure.
func TestUnsupportedIsNoFailure(t *testing.T) {
	for _, row := range []struct {
		err    error
		failed bool
	}{
		{fmt.Errorf("%w: too long", codecs.ErrUnsupported), false},
		{harness.Fail("design", "check", "%v", codecs.ErrUnsupported), true},
		{codecs.ErrFault, true},
	} {
		target := targets.Target{Check: func(*program.Program) error { return row.err }}
		require.Equal(t, row.failed, target.Run(nil) != nil, "%v", row.err)
	}
}
