package vectors_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
	"sealab/vectors"
	"sealab/vectors/generate"
)

func someFile(t *testing.T) *vectors.File {
	t.Helper()
	f, err := generate.File(catalog.Formats()[0], nil)
	require.NoError(t, err)
	return f
}

func TestLinesAreSelfContained(t *testing.T) {
	f := someFile(t)
	data, err := vectors.Lines(f)
	require.NoError(t, err)
	n := 0
	for line := range bytes.Lines(data) {
		var got struct {
			Design  string        `json:"design"`
			Secrets []vectors.Hex `json:"secrets"`
			ID      string        `json:"id"`
		}
		require.NoError(t, json.Unmarshal(line, &got))
		require.Equal(t, f.Tests[n].ID, got.ID)
		require.Equal(t, f.Ring(&f.Tests[n]), got.Secrets)
		require.Equal(t, f.Design, got.Design)
		n++
	}
	require.Equal(t, f.NumberTests, n)
}

func TestGroupsLoseNoTest(t *testing.T) {
	f := someFile(t)
	data, err := vectors.Groups(f)
	require.NoError(t, err)
	var got struct {
		NumberOfTests int `json:"numberOfTests"`
		TestGroups    []struct {
			Secrets []vectors.Hex
			Tests   []struct{ Result string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &got))
	results := map[string]int{}
	for _, g := range got.TestGroups {
		require.NotEmpty(t, g.Secrets)
		for _, test := range g.Tests {
			results[test.Result]++
		}
	}
	require.Equal(t, f.NumberTests, results["valid"]+results["invalid"])
	require.NotZero(t, results["valid"])
	require.NotZero(t, results["invalid"])
}

// folder makes a copy of the folder vectors with one design.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	data, err := someFile(t).Encode()
	require.NoError(t, err)
	for path, data := range map[string]string{
		"README.md": "page", "LAYOUTS.md": "layouts", "accumulated.json": "{}", "files/d.json": string(data),
		"consumers/x/run": "program", "consumers/x/node_modules/y": "not ours",
	} {
		path = filepath.Join(dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	}
	return dir
}

func TestDistIsCompleteAndTheSameTwice(t *testing.T) {
	first, err := vectors.Dist(folder(t), "7")
	require.NoError(t, err)
	second, err := vectors.Dist(folder(t), "7")
	require.NoError(t, err)
	require.True(t, bytes.Equal(first, second))

	contents := unpack(t, first)
	var index vectors.Index
	require.NoError(t, json.Unmarshal(contents["sealab-vectors/index.json"], &index))
	require.Len(t, index.SHA256, len(contents)-1)
	for path, want := range index.SHA256 {
		sum := sha256.Sum256(contents["sealab-vectors/"+path])
		require.Equal(t, want, hex.EncodeToString(sum[:]), path)
	}
	require.Equal(t, "7\n", string(contents["sealab-vectors/VERSION"]))
	require.Contains(t, contents, "sealab-vectors/consumers/x/run")
	require.NotContains(t, contents, "sealab-vectors/consumers/x/node_modules/y")
}

func unpack(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	contents := map[string][]byte{}
	for r := tar.NewReader(zipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return contents
		}
		require.NoError(t, err)
		contents[h.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
}
