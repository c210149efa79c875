package wycheproof

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// The module that has the vectors.
const (
	Version  = "v0.0.0-20191219022705-2196000605e4"
	module   = "github.com/google/wycheproof"
	checksum = "h1:/jhsqtCSTRK25HsqYePIHeLbPIDBwVOANhQmWRdgsyA="
)

// Run holds a primitive to every case of a file, such as "aes_gcm_test.json",
// and prints the counts.
func Run(t *testing.T, name string, try func(*Group, *Case) Outcome) Tally {
	t.Helper()
	dir, err := folder()
	if err != nil {
		testenv.Skip(t, "%s: %v", name, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "testvectors", name))
	require.NoError(t, err)
	f, err := Parse(data)
	require.NoError(t, err)
	tally, wrong := f.Judge(try)
	require.Empty(t, wrong)
	fmt.Printf("wycheproof %s: %d cases: %s\n", name, f.NumberOfTests, tally)
	return tally
}

// folder fetches the module into the module cache, once, and returns its place.
var folder = sync.OnceValues(func() (string, error) {
	// Outside of any module, so that this one's go.mod and go.sum do not change.
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+Version)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var m struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil {
		return "", fmt.Errorf("go mod download gave no answer: %w", err)
	}
	switch {
	case m.Error != "":
		return "", fmt.Errorf("go mod download: %s", m.Error)
	case err != nil:
		return "", fmt.Errorf("go mod download: %w", err)
	case m.Sum != checksum:
		panic("sealab: wycheproof: the module's checksum is " + m.Sum + ", want " + checksum)
	}
	return m.Dir, nil
})
