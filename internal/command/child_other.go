//go:build !linux

package command

import (
	"os"
	"syscall"
)

// TiedChild returns nil. Outside Linux, a child that outlives a killed supervisor ends only
// when its slice of the campaign does.
func TiedChild() *syscall.SysProcAttr { return nil }

// KillGroup kills the process, but not its children.
func KillGroup(p *os.Process) error { return p.Kill() }
