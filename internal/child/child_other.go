//go:build !linux

package child

import "syscall"

// Attributes are the system's own: elsewhere than on Linux a process that
// outlives a killed supervisor ends with its slice.
func Attributes() *syscall.SysProcAttr { return nil }
