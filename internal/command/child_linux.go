package command

import (
	"os"
	"syscall"
)

// TiedChild returns the attributes that put a process in a group of its own, so that an interrupt
// typed at the terminal reaches the supervisor alone, and end it with the
// supervisor, so that no orphan writes to a folder that another has locked.
func TiedChild() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// KillGroup kills the group of a process that has these attributes.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
