//go:build !unix

package campaign

import (
	"errors"
	"fmt"
	"os"
)

func takeLock(path string) (*os.File, error) {
	return nil, fmt.Errorf("locking %s: a campaign needs a Unix system: %w", path, errors.ErrUnsupported)
}
