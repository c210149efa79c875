// Package architecture holds the rules of the repository as tests: which package may import which, which
// modules may be required and why, which packages use the system's randomness, and that a design is one
// folder and one row of the catalog.
package architecture

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// design is the row of a design. internal/lab is for SDK formats, which share their minting code with the
// laboratory.
var design = []string{"codecs", "codecs/internal/...", "internal/lab"}

// instrument is the row of an instrument. It cannot import a design, and so cannot treat one differently.
var instrument = []string{"codecs", "codecs/catalog", "codecs/codectest", "codecs/sdk", "codecs/casefile", "codecs/worker", "internal/..."}

// commandRow is the row of a command.
var commandRow = []string{"codecs", "codecs/catalog", "codecs/codectest", "codecs/worker", "codecs/sdk", "codecs/boundary/...",
	"codecs/keyfile", "codecs/casefile", "vectors/...", "fuzz/...", "bench/...", "analysis/...", "internal/..."}

// layers is the allowlist of imports. It maps each folder to the folders of this module that its packages
// may import besides their own subfolders. The most specific row applies. "/..." means the folder and
// everything below, "/*" every folder below. A package without a row is an error, so a new folder must be
// added here. A new design uses the row of codecs/*.
var layers = map[string][]string{
	"codecs":              {},
	"codecs/*":            design, // every design: none imports another
	"codecs/internal/...": {"codecs", "internal/lab"},

	"codecs/boundary/...":  append([]string{"codecs/aesgcm", "codecs/claims", "internal/testenv"}, design...),
	"codecs/casefile/...":  append([]string{"codecs/worker"}, design...),
	"codecs/catalog":       {"codecs/...", "internal/..."},
	"codecs/codectest/...": append([]string{"internal/testenv"}, design...),
	"codecs/sdk/...":       {"codecs", "codecs/worker", "internal/..."},

	// A family of checks does not import another, and pure functions import no client.
	"fuzz/review":          {"fuzz/review/client", "fuzz/review/jsondoc", "fuzz/review/tokens", "internal/rawmcp"},
	"fuzz/review/client":   {"fuzz/review/jsondoc", "fuzz/review/tokens", "internal/rawmcp"},
	"fuzz/review/tokens":   {"fuzz/attack/tokenfmt", "fuzz/review/jsondoc"},
	"fuzz/review/jsondoc":  {"internal/schema"},
	"fuzz/review/inputs":   {"fuzz/review", "fuzz/review/client", "fuzz/review/jsondoc"},
	"fuzz/review/checks":   {"fuzz/review", "fuzz/review/client", "fuzz/review/jsondoc", "fuzz/review/tokens"},
	"fuzz/review/checks/*": {"fuzz/review", "fuzz/review/client", "fuzz/review/inputs", "fuzz/review/jsondoc", "fuzz/review/tokens", "internal/rawmcp"},

	"vectors/...":  instrument,
	"fuzz/...":     instrument,
	"bench/...":    instrument,
	"analysis/...": instrument,
	"internal/...": {"codecs", "internal/..."},
	"cmd/...":      commandRow,

	// A family of negative controls does not import another.
	"internal/broken/*":        {"codecs", "internal/broken/skeleton", "internal/lab"},
	"internal/broken/skeleton": {"codecs", "internal/lab"},

	// A group of commands does not import another.
	"cmd/sealab/internal/*": append([]string{"cmd/sealab/internal/subject"}, commandRow...),
}

func TestLayering(t *testing.T) {
	for _, p := range packages(t) {
		row, ok := rowOf(p.folder())
		require.True(t, ok, "%s has no row in layers: give it one", p.folder())
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

// TestBrokenStaysInside checks that only fuzz and cmd/sealab import broken designs.
func TestBrokenStaysInside(t *testing.T) {
	for _, p := range packages(t) {
		for _, imported := range own(p.Imports) {
			if matches("internal/broken/...", imported) && !matches("internal/broken/...", p.folder()) {
				require.True(t, matches("fuzz/...", p.folder()) || matches("cmd/sealab/...", p.folder()), "%s imports %s", p.folder(), imported)
			}
		}
	}
}

// TestLayeringRings checks that the rule can fail.
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
		{"codecs/a-new-design", "codecs/internal/keyring", true},
		{"codecs/a-new-design", "codecs/aesgcm", false},
		{"codecs/aesgcm", "internal/broken", false},
		{"codecs", "codecs/internal/base64url", false},
		{"fuzz/attack", "fuzz/differential", true},
		{"fuzz/review/checks", "fuzz/review/checks/forgery", true},
		{"fuzz/review/checks/forgery", "fuzz/review/checks/offers", false},
		{"fuzz/review/checks/offers", "fuzz/review/inputs", true},
		{"fuzz/review/tokens", "fuzz/review/client", false},
		{"internal/broken", "internal/broken/keys", true},
		{"internal/broken/keys", "internal/broken/skeleton", true},
		{"internal/broken/keys", "internal/broken/tags", false},
		{"internal/broken/skeleton", "internal/broken/keys", false},
		{"cmd/sealab", "codecs/aesgcm", false},
		{"cmd/sealab", "cmd/sealab/internal/fuzz", true},
		{"cmd/sealab/internal/fuzz", "cmd/sealab/internal/subject", true},
		{"cmd/sealab/internal/fuzz", "cmd/sealab/internal/attack", false},
	} {
		row, ok := rowOf(c.folder)
		require.True(t, ok, c.folder)
		require.Equal(t, c.want, allowed(row, c.folder, c.imported), "%s -> %s", c.folder, c.imported)
	}
	_, ok := rowOf("elsewhere")
	require.False(t, ok)
}

// TestRandomnessHasOneSource checks that only one package of the designs and one of the laboratory use the
// system's random number generator.
func TestRandomnessHasOneSource(t *testing.T) {
	sources := []string{"codecs/internal/keyring", "internal/lab"}
	for _, p := range packages(t) {
		if slices.Contains(sources, p.folder()) {
			require.Contains(t, p.Imports, "crypto/rand")
			continue
		}
		require.NotContains(t, p.Imports, "crypto/rand", "%s: draw randomness with keyring.Random or lab.Random", path.Base(p.Dir))
	}
}
