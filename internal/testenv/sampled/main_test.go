package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// module has tests that take samples in every way, and neighbours that do not.
var module = map[string]string{
	"go.mod":             "module probe\n\ngo 1.26\n",
	"testenv/testenv.go": "package testenv\n\nfunc Sample() bool { return Race() }\n\nfunc Race() bool { return false }\n\nfunc Skip() {}\n",
	"suite/suite.go": `package suite

import "probe/testenv"

var parts = []func() bool{sampled}

func sampled() bool { return testenv.Race() }

func Run() { parts[0]() }

func Other() {}
`,
	"direct/direct_test.go": `package direct_test

import (
	"testing"

	env "probe/testenv"
)

type matrix struct{}

func (matrix) rows() int {
	if env.Sample() {
		return 1
	}
	return 9
}

func TestDirect(t *testing.T) { t.Log(env.Sample()) }

func TestMethod(t *testing.T) { t.Log(matrix{}.rows()) }

func TestNeighbour(t *testing.T) { env.Skip() }
`,
	"across/across_test.go": "package across\n\nimport (\n\t\"testing\"\n\n\t\"probe/suite\"\n)\n\nfunc TestAcross(t *testing.T) { suite.Run() }\n",
	"whole/whole_test.go":   "package whole\n\nimport (\n\t\"testing\"\n\n\t\"probe/suite\"\n)\n\nfunc TestWhole(t *testing.T) { suite.Other() }\n",
}

func TestArguments(t *testing.T) {
	folder := t.TempDir()
	for file, text := range module {
		path := filepath.Join(folder, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	got, err := arguments(folder, "probe/testenv")
	require.NoError(t, err)
	require.Equal(t, []string{"-run", "^(TestAcross|TestDirect|TestMethod)$", "probe/across", "probe/direct"}, got)

	_, err = arguments(folder, "probe/direct")
	require.ErrorContains(t, err, "no test takes samples")
}

// TestThisModule finds the suite of designs and a matrix of its own folder.
func TestThisModule(t *testing.T) {
	got, err := arguments(filepath.Join("..", "..", ".."), "sealab/internal/testenv")
	require.NoError(t, err)
	require.Subset(t, got, []string{"sealab/codecs/aesgcm", "sealab/fuzz/attack/attacks"})
	require.NotContains(t, got, "sealab/fuzz/campaign")
	require.Regexp(t, `\bTestConformance\b.*\bTestSoundDesignsStand\b`, got[1])
}
