package command

import (
	"os"
	"syscall"
)

// TiedChild returns attributes that put a process in its own group, so that an interrupt from the terminal
// reaches only the supervisor. They also kill the process when the supervisor dies. Otherwise an orphan
// could write to a folder that another supervisor has locked.
func TiedChild() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// KillGroup kills the process group of a process started with TiedChild.
func KillGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
