//go:build !unix

package campaign

import (
	"errors"
	"fmt"
	"os"
)

func takeLock(path string) (*os.File, error) {
	return nil, fmt.Errorf("sealab: locking %s: campaigns need a Unix system: %w", path, errors.ErrUnsupported)
}
