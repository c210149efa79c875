package architecture_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// design is what a design may import. internal/lab is for the formats of SDKs,
// whose code for minting is shared with the laboratory.
var design = []string{"codecs", "codecs/internal/...", "codecs/claims", "internal/lab"}

// instrument is what an instrument may import beside its own folder.
var instrument = []string{"codecs", "codecs/catalog", "codecs/codectest", "codecs/sdk", "codecs/casefile", "codecs/worker", "internal/..."}

// layers says for each folder which folders of this module its packages may
// import beside their own subfolders. The most specific row counts; a package
// without a row is an error, so that a new folder must take its place here.
// "/..." stands for everything below, and "/*" for each folder below by itself.
var layers = map[string][]string{
	"codecs":              {},
	"codecs/*":            design, // every design has this row, and may not import another
	"codecs/internal/...": {"codecs", "internal/lab"},

	"codecs/aesgcm/...":      design,
	"codecs/aegis/...":       design,
	"codecs/aessiv/...":      design,
	"codecs/ascon/...":       design,
	"codecs/cbchmac/...":     design,
	"codecs/chachasiv/...":   design,
	"codecs/dndk/...":        design,
	"codecs/gcmctx/...":      design,
	"codecs/gcmsiv/...":      design,
	"codecs/xaes/...":        design,
	"codecs/hmacsha256/...":  design,
	"codecs/hpkepsk/...":     design,
	"codecs/hpkesession/...": design,
	"codecs/xchacha/...":     design,
	"codecs/mcpd/...":        design,
	"codecs/mcppy/...":       design,
	"codecs/mcprb/...":       design,
	"codecs/mcpts/...":       design,
	"codecs/codectest/...":   append([]string{"internal/testenv"}, design...),
	"codecs/sdk/...":         {"codecs", "codecs/worker", "internal/..."},
	"codecs/boundary/...":    append([]string{"codecs/aesgcm", "codecs/claims", "internal/testenv"}, design...),
	"codecs/casefile/...":    append([]string{"codecs/worker"}, design...),
	"codecs/catalog":         {"codecs/...", "internal/..."},

	"vectors/...":  instrument,
	"fuzz/...":     instrument,
	"bench/...":    instrument,
	"analysis/...": instrument,
	"internal/...": {"codecs", "internal/..."},
	"cmd/...":      {"codecs", "codecs/catalog", "codecs/codectest", "codecs/worker", "codecs/sdk", "codecs/boundary/...", "codecs/keyfile", "codecs/casefile", "vectors/...", "fuzz/...", "bench/...", "analysis/...", "internal/..."},
}

func TestLayering(t *testing.T) {
	for _, p := range packages(t) {
		row, ok := rowOf(p.folder())
		require.True(t, ok, "%s has no row in layers: decide who may import whom", p.folder())
		for _, imported := range own(p.Imports) {
			require.True(t, allowed(row, p.folder(), imported), "%s must not import %s", p.folder(), imported)
		}
	}
}

// rowOf returns the key of the most specific row for a folder.
func rowOf(folder string) (row string, ok bool) {
	for key := range layers {
		if matches(key, folder) && len(key) > len(row) {
			row, ok = key, true
		}
	}
	return row, ok
}

func matches(pattern, folder string) bool {
	if root, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(folder, root+"/")
	}
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return folder == root || strings.HasPrefix(folder, root+"/")
	}
	return pattern == folder
}

func allowed(row, folder, imported string) bool {
	if root, ok := strings.CutSuffix(row, "/..."); ok && matches(root+"/...", imported) {
		return true
	}
	for _, pattern := range layers[row] {
		if matches(pattern, imported) {
			return true
		}
	}
	return strings.HasPrefix(imported, folder+"/") && row != "codecs"
}

// TestBrokenStaysInside holds broken designs to importers that are instruments or the
// command.
func TestBrokenStaysInside(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range own(p.Imports) {
			if matches("internal/broken/...", imported) && !matches("internal/broken/...", p.folder()) {
				require.True(t, matches("fuzz/...", p.folder()) || p.folder() == "cmd/sealab", "%s imports %s", p.folder(), imported)
			}
		}
	}
}

// TestLayeringRings proves that the rule can fail.
func TestLayeringRings(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		want             bool
	}{
		{"bench", "codecs/catalog", true},
		{"bench", "codecs/aesgcm", false},
		{"analysis", "bench", false},
		{"codecs/aesgcm", "codecs/internal/keyring", true},
		{"codecs/aesgcm", "codecs/hmacsha256", false},
		{"codecs", "codecs/internal/base64url", false},
		{"fuzz/attack", "fuzz/differential", true},
		{"cmd/sealab", "codecs/aesgcm", false},
	} {
		row, ok := rowOf(c.folder)
		require.True(t, ok, c.folder)
		require.Equal(t, c.want, allowed(row, c.folder, c.imported), "%s -> %s", c.folder, c.imported)
	}
	_, ok := rowOf("elsewhere")
	require.False(t, ok)
}

// TestRandomnessHasOneSource holds designs to one place that touches the system's
// random number generator, and the laboratory to another.
func TestRandomnessHasOneSource(t *testing.T) {
	sources := []string{"codecs/internal/keyring", "internal/lab"}
	for _, p := range packages(t) {
		if slices.Contains(sources, p.folder()) {
			require.Contains(t, p.Imports, "crypto/rand")
			continue
		}
		require.NotContains(t, p.Imports, "crypto/rand", "%s: draw randomness with lab.Random or lab.Random", path.Base(p.Dir))
	}
}
