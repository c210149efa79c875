package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// TestGenerated compares the committed files with the generated ones.
func TestGenerated(t *testing.T) {
	files, err := generate()
	require.NoError(t, err)
	require.Len(t, files, 3)
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("..", path))
		require.NoError(t, err)
		testenv.EqualLines(t, string(want), string(got), path+": run go generate ./fuzz/targets")
	}
}
