//go:build unix

package worker_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireGone checks that the process has exited and been waited for.
func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
}
