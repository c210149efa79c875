package main

// The client requests to valgrind's memcheck, as in memcheck.h and valgrind.h
// (valgrind 3.19). They are compiled in with the build tag valgrind on
// linux/amd64. In every other build, and outside valgrind, they have no effect.
const (
	runningOnValgrind = 0x1001
	makeUndefined     = 0x4d430001 // 'M' 'C' << 16 + 1
	makeDefined       = 0x4d430002
)

// underValgrind reports whether the program runs under valgrind and can send
// requests to it.
func underValgrind() bool { return request(runningOnValgrind, nil) != 0 }

// markSecret declares b undefined. memcheck then reports every branch and address that depends on b.
func markSecret(b []byte) {
	if len(b) > 0 {
		request(makeUndefined, b)
	}
}

// markPublic declares b defined again.
func markPublic(b []byte) {
	if len(b) > 0 {
		request(makeDefined, b)
	}
}
