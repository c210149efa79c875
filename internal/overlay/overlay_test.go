package overlay_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/overlay"
)

// TestWrite runs a program of which one file is another and one was not there.
func TestWrite(t *testing.T) {
	main, err := filepath.Abs("testdata/hello/main.go")
	require.NoError(t, err)
	list, err := overlay.Write(t.TempDir(), map[string][]byte{
		main: []byte("package main\n\nfunc main() { print(said()) }\n"),
		filepath.Join(filepath.Dir(main), "more.go"): []byte("package main\n\nfunc said() string { return \"from the overlay\" }\n"),
	})
	require.NoError(t, err)
	out, err := exec.Command("go", "run", "-overlay="+list, "./testdata/hello").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "from the overlay", string(out))

	_, err = overlay.Write(filepath.Join(t.TempDir(), "none"), map[string][]byte{main: nil})
	require.ErrorContains(t, err, "sealab: ")
}
