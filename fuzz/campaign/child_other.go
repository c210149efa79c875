//go:build !linux

package campaign

import "syscall"

// childAttributes are the system's own: elsewhere than on Linux a process that
// outlives a killed supervisor ends with its slice.
func childAttributes() *syscall.SysProcAttr { return nil }
