package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/cli"
	"sealab/internal/testenv"
)

// TestVectorsVerifyAll asks every committed vector file, in each of its readings, as
// the command does without a file.
func TestVectorsVerifyAll(t *testing.T) {
	testenv.SkipRace(t)
	root := filepath.Join("..", "..", "vectors")
	files, err := filepath.Glob(filepath.Join(root, "files", "*.json"))
	require.NoError(t, err)
	status, out := sealab("vectors", "verify", "--dir", filepath.Join(root, "files"), "--digests", filepath.Join(root, "accumulated.json"), "--accumulate", "0")
	require.Equal(t, cli.OK, status, out)
	for _, path := range files {
		require.Contains(t, out, strings.TrimSuffix(filepath.Base(path), ".json")+": ")
	}
}
