package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/cli"
	"sealab/internal/testenv"
)

// TestVectorsVerifyAll verifies every committed vector file in each of its
// readings, as the command does without a file.
func TestVectorsVerifyAll(t *testing.T) {
	testenv.SkipSample(t)
	root := filepath.Join("..", "..", "vectors")
	files, err := filepath.Glob(filepath.Join(root, "files", "*.json"))
	require.NoError(t, err)
	status, out := sealab("vectors", "verify", "--dir", filepath.Join(root, "files"), "--digests", filepath.Join(root, "accumulated.json"), "--accumulate", "0")
	require.Equal(t, cli.OK, status, out)
	for _, path := range files {
		require.Contains(t, out, strings.TrimSuffix(filepath.Base(path), ".json")+": ")
	}
}

// TestMutateStops checks that an interrupt ends the command and leaves no
// folder behind.
func TestMutateStops(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // for Windows
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := newRoot()
	root.SetContext(ctx)
	err := cli.Run(root, []string{"vectors", "mutate", "--root", filepath.Join("..", "..")}, strings.NewReader(""), io.Discard, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
	entries, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, entries)
}
