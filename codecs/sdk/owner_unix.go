//go:build unix

package sdk

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// requireOwner returns an error unless the current user, or root, owns the file.
// Under sudo the user who called it is also accepted.
func requireOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: its owner is unknown", path)
	}
	return checkOwner(path, int(stat.Uid), os.Geteuid(), os.Getenv("SUDO_UID"))
}

func checkOwner(path string, owner, user int, sudo string) error {
	if owner == user || owner == 0 || user == 0 && sudo == strconv.Itoa(owner) {
		return nil
	}
	return fmt.Errorf("%s belongs to user %d, and it names programs to run: want a file of user %d", path, owner, user)
}
