//go:build unix

package storetest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// own makes name the owner of dir, and returns the attributes that start a
// process as that user.
func own(t *testing.T, dir, name string) *syscall.SysProcAttr {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		testenv.Skip(t, "there is no user %s, and root cannot run the server", name)
	}
	uid, err := strconv.Atoi(u.Uid)
	require.NoError(t, err)
	gid, err := strconv.Atoi(u.Gid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, uid, gid))
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}
