//go:build unix

package campaign

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock takes the lock at path. The process holds the lock until it closes the file or ends.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: another process holds this campaign", path)
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}
