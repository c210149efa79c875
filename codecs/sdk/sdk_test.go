package sdk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/sdk"
	"sealab/codecs/worker"
)

// house makes a repository that has the given files.
func house(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if files["go.mod"] == "" {
		files["go.mod"] = "module sealab\n\ngo 1.26\n"
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return root
}

func TestPeers(t *testing.T) {
	root := house(t, map[string]string{
		"codecs/sdk/b/peer.json":   `{"name":"b-sdk","mirrors":"b","command":["b"],"needs":["lib"],"install":"make peers"}`,
		"codecs/sdk/a/peer.json":   `{"name":"a-sdk","mirrors":"a","command":["a"],"needs":["lib","no-such-program"],"install":"make peers"}`,
		"codecs/sdk/b/lib":         "",
		"codecs/sdk/a/lib":         "",
		"codecs/sdk/a/2.peer.json": `{"name":"a-two","mirrors":"a","command":["a"],"install":"make peers"}`,
		"codecs/sdk/not-a-peer/go": "",
		"deep/below/file":          "",
	})
	peers, err := sdk.Peers(filepath.Join(root, "deep", "below"))
	require.NoError(t, err)
	require.Len(t, peers, 3)
	require.Equal(t, "a-two", peers[0].Name)
	require.Empty(t, peers[0].Unavailable())
	require.Equal(t, "a-sdk", peers[1].Name)
	require.Equal(t, "there is no no-such-program; install with: make peers", peers[1].Unavailable())
	require.Equal(t, "b", peers[2].Mirrors)
	require.Empty(t, peers[2].Unavailable())

	_, err = peers[1].Dial(worker.Limits{})
	require.EqualError(t, err, "peer a-sdk is not installed: there is no no-such-program; install with: make peers")
	_, err = sdk.Find(root, "c-sdk")
	require.EqualError(t, err, `no peer "c-sdk"; there are a-two, a-sdk, b-sdk`)
}

func TestNoPeerIsAnError(t *testing.T) {
	_, err := sdk.Peers(t.TempDir())
	require.ErrorContains(t, err, "no peer")
	_, err = sdk.Peers(house(t, map[string]string{"codecs/sdk/README.md": ""}))
	require.ErrorContains(t, err, "no peer")
}

// TestOnlyThisModule plants manifests in folders above: those of another module,
// and of a folder without go.mod, are not read.
func TestOnlyThisModule(t *testing.T) {
	const manifest = `{"name":"evil","mirrors":"x","command":["x"],"install":"x"}`
	root := house(t, map[string]string{
		"go.mod":                      "module other\n",
		"codecs/sdk/evil/peer.json":   manifest,
		"user/work/file":              "",
		"mine/go.mod":                 "module sealab\n",
		"mine/sub/go.mod":             "module third\n",
		"mine/codecs/sdk/a/peer.json": `{"name":"a","mirrors":"x","command":["x"],"install":"x"}`,
	})
	_, err := sdk.Peers(filepath.Join(root, "user", "work"))
	require.ErrorContains(t, err, "is not in this module")
	_, err = sdk.Peers(filepath.Join(root, "mine", "sub"))
	require.ErrorContains(t, err, "is not in this module")
	peers, err := sdk.Peers(filepath.Join(root, "mine"))
	require.NoError(t, err)
	require.Len(t, peers, 1)
	require.Equal(t, "a", peers[0].Name)
}

func TestBrokenManifest(t *testing.T) {
	for name, manifest := range map[string]string{
		"peer.json: ": `{`,
		"must be":     `{"name":"x"}`,
	} {
		_, err := sdk.Peers(house(t, map[string]string{"codecs/sdk/x/peer.json": manifest}))
		require.ErrorContains(t, err, name)
	}
}

// TestManifestsOfThisRepository reads the real ones.
func TestManifestsOfThisRepository(t *testing.T) {
	peers, err := sdk.Peers(".")
	require.NoError(t, err)
	for _, p := range peers {
		require.NotEmpty(t, p.Needs, "%s: what has to be installed?", p.Name)
	}
}
