//go:build unix

package harness

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of the file at path, which is made as long,
// and unmaps what was mapped before. The bytes are written and not left to be
// allocated later: where the disk is full then, the process would die of a fault.
func mapFile(path string, before []byte, size int) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		return nil, err
	}
	if before != nil {
		if err := syscall.Munmap(before); err != nil {
			return nil, err
		}
	}
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// limitMemory limits what this process may write to.
func limitMemory(mib uint64) error {
	bytes := mib << 20
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
