//go:build unix

package sdk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

func TestCheckOwner(t *testing.T) {
	for _, c := range []struct {
		name        string
		owner, user int
		sudo        string
		ok          bool
	}{
		{"own file", 1000, 1000, "", true},
		{"file of root", 0, 1000, "", true},
		{"file of another user", 1001, 1000, "", false},
		{"file of another user, as root", 1001, 0, "", false},
		{"file of the user behind sudo", 1000, 0, "1000", true},
		{"file of another user, under sudo", 1001, 0, "1000", false},
		{"SUDO_UID without root", 1001, 1000, "1001", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkOwner("sdk.json", c.owner, c.user, c.sudo)
			require.Equal(t, c.ok, err == nil, "%v", err)
		})
	}
}

// TestPlantedByAnotherUser changes the owner of a manifest, if the current user
// may do so.
func TestPlantedByAnotherUser(t *testing.T) {
	for _, planted := range []string{"go.mod", "codecs/sdk/x/sdk.json"} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":                module + "\n",
			"codecs/sdk/x/sdk.json": `{"command":["x"],"install":"x","sdks":[{"name":"x"}]}`,
		} {
			path := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		_, err := All(root)
		require.NoError(t, err)
		if err := os.Chown(filepath.Join(root, planted), os.Geteuid()+4242, -1); err != nil {
			testenv.Skip(t, "%v", err)
		}
		_, err = All(root)
		require.ErrorContains(t, err, planted+" belongs to user")
	}
}
