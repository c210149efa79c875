//go:build unix

package campaign

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock takes the lock at path, which this process holds until it closes the
// file or ends, in whatever way.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("sealab: %s: another process works on this campaign; want one at a time", path)
	}
	return nil, fmt.Errorf("sealab: locking %s: %w", path, err)
}
