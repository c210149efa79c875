//go:build !linux

package command

import (
	"os"
	"syscall"
)

// TiedChild returns the system's own attributes: elsewhere than on Linux a process that
// outlives a killed supervisor ends with its slice.
func TiedChild() *syscall.SysProcAttr { return nil }

// KillGroup kills the process. Its children go on.
func KillGroup(p *os.Process) error { return p.Kill() }
