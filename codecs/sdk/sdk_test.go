package sdk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/sdk"
	"sealab/codecs/worker"
)

// house makes a repository with the given files.
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

func TestAll(t *testing.T) {
	root := house(t, map[string]string{
		"codecs/sdk/b/sdk.json": `{"command":["b"],"needs":["lib"],"install":"make sdks","sdks":[{"name":"b-sdk","mirrors":"b"}]}`,
		"codecs/sdk/a/sdk.json": `{"command":["a","-x"],"needs":["lib"],"install":"make sdks","sdks":[
			{"name":"a-two","agrees":{"design":"c","options":{"reading":"sdk"}}}, {"name":"a-sdk","arguments":["y"],"needs":["no-such-program"],"version":"1.2","mirrors":"a"}]}`,
		"codecs/sdk/b/lib":        "",
		"codecs/sdk/a/lib":        "",
		"codecs/sdk/not-a-sdk/go": "",
		"deep/below/file":         "",
	})
	all, err := sdk.All(filepath.Join(root, "deep", "below"))
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "a-two", all[0].Name)
	require.Equal(t, []string{"a", "-x"}, all[0].Args)
	require.Empty(t, all[0].Unavailable())
	require.Equal(t, "a-sdk", all[1].Name)
	require.Equal(t, []string{"a", "-x", "y"}, all[1].Args)
	require.Equal(t, "1.2", all[1].Version)
	require.Equal(t, "there is no no-such-program; install with: make sdks", all[1].Unavailable())
	require.Equal(t, "b", all[2].Mirrors)
	require.Empty(t, all[2].Unavailable())

	mirrors, err := sdk.Mirrors(root)
	require.NoError(t, err)
	require.Equal(t, all[1:], mirrors)
	compared, err := sdk.Compared(root)
	require.NoError(t, err)
	require.Equal(t, all, compared)
	require.Equal(t, sdk.Agreement{Design: "c", Options: map[string]string{"reading": "sdk"}}, all[0].Agrees)

	_, err = all[1].Dial(worker.Limits{})
	require.EqualError(t, err, "SDK a-sdk is not installed: there is no no-such-program; install with: make sdks")
	_, err = sdk.Find(root, "c-sdk")
	require.EqualError(t, err, `no SDK "c-sdk"; there are a-two, a-sdk, b-sdk`)
}

func TestNoSDKIsAnError(t *testing.T) {
	_, err := sdk.All(t.TempDir())
	require.ErrorContains(t, err, "no SDK")
	_, err = sdk.All(house(t, map[string]string{"codecs/sdk/README.md": ""}))
	require.ErrorContains(t, err, "no SDK")
}

// TestOnlyThisModule puts manifests into parent folders. Those of another
// module, and of a folder without go.mod, must not be read.
func TestOnlyThisModule(t *testing.T) {
	const manifest = `{"command":["x"],"install":"x","sdks":[{"name":"evil"}]}`
	root := house(t, map[string]string{
		"go.mod":                     "module other\n",
		"codecs/sdk/evil/sdk.json":   manifest,
		"user/app/file":              "",
		"mine/go.mod":                "module sealab\n",
		"mine/sub/go.mod":            "module third\n",
		"mine/codecs/sdk/a/sdk.json": `{"command":["x"],"install":"x","sdks":[{"name":"a"}]}`,
	})
	_, err := sdk.All(filepath.Join(root, "user", "app"))
	require.ErrorContains(t, err, "is not in a clone of sealab")
	_, err = sdk.All(filepath.Join(root, "mine", "sub"))
	require.ErrorContains(t, err, "is not in a clone of sealab")
	all, err := sdk.All(filepath.Join(root, "mine"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "a", all[0].Name)
}

func TestBrokenManifest(t *testing.T) {
	for want, manifest := range map[string]string{
		"unexpected EOF":         `{`,
		"want command, install":  `{"sdks":[{"name":"x"}]}`,
		"sdks[0]: want a name":   `{"command":["x"],"install":"x","sdks":[{}]}`,
		`unknown field "comand"`: `{"comand":["x"],"install":"x","sdks":[{"name":"x"}]}`,
		`"x" is also in`:         `{"command":["x"],"install":"x","sdks":[{"name":"x"},{"name":"x"}]}`,
	} {
		_, err := sdk.All(house(t, map[string]string{"codecs/sdk/x/sdk.json": manifest}))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "sdk.json: ")
	}
}

// TestManifestsOfThisRepository reads the committed manifests.
func TestManifestsOfThisRepository(t *testing.T) {
	all, err := sdk.All(".")
	require.NoError(t, err)
	for _, s := range all {
		require.NotEmpty(t, s.Needs, "%s: needs of its installation", s.Name)
	}
}
