//go:build !unix

package storetest

import (
	"syscall"
	"testing"

	"sealab/internal/testenv"
)

// own skips the test: only Unix can start a process as another user.
func own(t *testing.T, _, name string) *syscall.SysProcAttr {
	t.Helper()
	testenv.Skip(t, "this system cannot start a process as the user %s", name)
	return nil
}
