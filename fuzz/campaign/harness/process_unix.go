//go:build unix

package harness

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of the file at path, after it makes the file
// as long, and unmaps before. It writes the bytes now: if the disk were full at a
// later allocation, the process would die of a fault.
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

// limitMemory limits the memory that this process may write to.
func limitMemory(mib uint64) error {
	var limit syscall.Rlimit
	setLimit(&limit.Cur, mib<<20)
	setLimit(&limit.Max, mib<<20)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
}

// setLimit sets a field of a limit, which is unsigned on Linux and signed on FreeBSD.
func setLimit[T int64 | uint64](field *T, bytes uint64) { *field = T(bytes) }
