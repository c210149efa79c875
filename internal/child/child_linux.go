package child

import "syscall"

// Attributes put a process in a group of its own, so that an interrupt
// typed at the terminal reaches the supervisor alone, and end it with the
// supervisor, so that no orphan writes to a folder that another has locked.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
