//go:build unix

package harness

import (
	"os"
	"syscall"
)

// mapFile extends the file at path to size bytes, unmaps before, and maps the file. It writes
// the bytes immediately, because if the disk became full later, access to the mapping would
// kill the process.
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

// limitMemory limits the writable memory of this process.
func limitMemory(mib uint64) error {
	var limit syscall.Rlimit
	setLimit(&limit.Cur, mib<<20)
	setLimit(&limit.Max, mib<<20)
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
}

// setLimit sets a field of a limit, which is unsigned on Linux but signed on FreeBSD.
func setLimit[T int64 | uint64](field *T, bytes uint64) { *field = T(bytes) }
