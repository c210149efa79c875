package sourcetree_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/sourcetree"
)

func TestCheck(t *testing.T) {
	require.NoError(t, sourcetree.Check(t.Context(), ""))
	require.NoError(t, sourcetree.Check(t.Context(), "../architecture"))
	dir := t.TempDir()
	require.EqualError(t, sourcetree.Check(t.Context(), dir),
		"sealab: "+dir+" is not inside the module sealab: run it there, as what runs is built from its source")
}

// TestCheckEnds says that it was interrupted, and nothing of the folder.
func TestCheckEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, sourcetree.Check(ctx, ""), context.Canceled)
}
