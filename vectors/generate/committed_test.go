package generate_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/testenv"
	"sealab/vectors"
	"sealab/vectors/generate"
)

// root is the root of the module, where the committed files are found.
var root = filepath.Join("..", "..")

// committed reads the committed file of a design.
func committed(t *testing.T, d codecs.Design) *vectors.File {
	t.Helper()
	f, err := vectors.Read(vectors.Path(filepath.Join(root, vectors.Folder), d.Name))
	require.NoError(t, err)
	return f
}

// TestCommittedFilesAreTheGenerated generates every committed file again. If a design changed, `make
// vectors` rewrites its vectors; review the diff like any other change of behavior.
func TestCommittedFilesAreTheGenerated(t *testing.T) {
	dir := filepath.Join(root, vectors.Folder)
	paths, err := vectors.Paths(dir)
	require.NoError(t, err)
	require.Len(t, paths, len(catalog.Formats()), "run: make vectors")
	for i, d := range catalog.Formats() {
		if testenv.Sample() && i%5 != 0 || testenv.Race() && i%15 != 0 {
			continue // a fifth of the files, or a 15th with the race detector
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			f, err := generate.File(d, catalog.Formats())
			require.NoError(t, err)
			want, err := f.Encode()
			require.NoError(t, err)
			got, err := os.ReadFile(vectors.Path(dir, d.Name))
			require.NoError(t, err, "run: make vectors")
			require.True(t, bytes.Equal(want, got), "the committed vectors of %s are not those that it gives: run: make vectors", d.Name)
		})
	}
}

var inputs = flag.Int("digests", generate.DigestCounts[0], "inputs of each design that TestCommittedDigestsAreTheAccumulated accumulates")

// TestCommittedDigestsAreTheAccumulated accumulates 100 inputs of each design.
// make vectors-digests accumulates 10,000.
func TestCommittedDigestsAreTheAccumulated(t *testing.T) {
	digests, err := generate.ReadDigests(filepath.Join(root, generate.DigestsPath))
	require.NoError(t, err)
	require.Len(t, digests, len(catalog.Formats()), "run: make vectors")
	for i, d := range catalog.Formats() {
		if testenv.Sample() && i%12 != 0 {
			continue // a twelfth of the formats; make vectors-digests covers all
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			fresh, err := generate.Accumulate(d, committed(t, d).Keys["k1"], *inputs)
			require.NoError(t, err)
			require.NotEmpty(t, fresh)
			require.Empty(t, digests.Differs(d.Name, fresh), "run: make vectors")
		})
	}
}
