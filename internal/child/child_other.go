//go:build !linux

package child

import (
	"os"
	"syscall"
)

// Attributes are the system's own: elsewhere than on Linux a process that
// outlives a killed supervisor ends with its slice.
func Attributes() *syscall.SysProcAttr { return nil }

// Kill kills the process. Its children go on.
func Kill(p *os.Process) error { return p.Kill() }
