//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the process a group of its own, which its children share.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process and its children. It has no effect on a process
// that has ended and been waited for.
func killGroup(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended by itself
	}
}
