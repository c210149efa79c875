//go:build !unix

package worker

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process.
func killGroup(cmd *exec.Cmd) {
	cmd.Process.Kill() //nolint:errcheck // it may have exited already
}
