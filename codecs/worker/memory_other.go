//go:build !linux

package worker

import (
	"fmt"
	"time"

	"sealab/codecs"
)

// memoryOf returns codecs.ErrUnsupported on this system.
func memoryOf(int) (Memory, error) {
	return Memory{}, fmt.Errorf("%w: this system does not tell the peak memory of another process", codecs.ErrUnsupported)
}

// workOf returns codecs.ErrUnsupported on this system.
func workOf(int, bool) (time.Duration, error) {
	return 0, fmt.Errorf("%w: this system does not tell the processor time of another process", codecs.ErrUnsupported)
}
