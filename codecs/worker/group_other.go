//go:build !unix

package worker

import "os/exec"

// ownGroup is empty: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the process.
func killGroup(cmd *exec.Cmd) {
	cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
}
