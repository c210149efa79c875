package command_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/command"
)

func TestCheck(t *testing.T) {
	require.NoError(t, command.CheckGo(t.Context(), ""))
	require.NoError(t, command.CheckGo(t.Context(), "../architecture"))
	dir := t.TempDir()
	require.ErrorContains(t, command.CheckGo(t.Context(), dir), dir+" is not inside the module sealab")
}

// TestCheckInterrupted checks that an interrupt is not reported as a wrong folder.
func TestCheckInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, command.CheckGo(ctx, ""), context.Canceled)
}

func TestRun(t *testing.T) {
	out, err := command.Go(t.Context(), "list", "-m")
	require.NoError(t, err)
	require.Equal(t, "sealab\n", string(out))
	_, err = command.Go(t.Context(), "list", "./nowhere")
	require.ErrorContains(t, err, "go list: exit status 1: ")
	require.ErrorContains(t, err, "nowhere")
}

// TestOverlay runs a program with one file replaced and one added.
func TestOverlay(t *testing.T) {
	main, err := filepath.Abs("testdata/hello/main.go")
	require.NoError(t, err)
	list, err := command.GoOverlay(t.TempDir(), map[string][]byte{
		main: []byte("package main\n\nfunc main() { print(said()) }\n"),
		filepath.Join(filepath.Dir(main), "more.go"): []byte("package main\n\nfunc said() string { return \"from the overlay\" }\n"),
	})
	require.NoError(t, err)
	out, err := exec.Command("go", "run", "-overlay="+list, "./testdata/hello").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "from the overlay", string(out))

	_, err = command.GoOverlay(filepath.Join(t.TempDir(), "none"), map[string][]byte{main: nil})
	require.ErrorContains(t, err, "none")
}
