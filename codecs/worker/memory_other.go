//go:build !linux

package worker

import (
	"fmt"

	"sealab/codecs"
)

// memoryOf is not told by this system.
func memoryOf(int) (Memory, error) {
	return Memory{}, fmt.Errorf("%w: this system does not tell the peak memory of another process", codecs.ErrUnsupported)
}
