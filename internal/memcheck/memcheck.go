// Package memcheck speaks to valgrind's memcheck from inside a program that
// runs under it: it declares bytes undefined, so that memcheck reports every
// branch and every address that depends on them, and defined again.
//
// The requests are those of memcheck.h and valgrind.h (valgrind 3.19). They are
// compiled in with the build tag valgrind on linux/amd64; in every other build,
// and outside valgrind, each is without effect.
package memcheck

// The client requests, from valgrind.h and memcheck.h.
const (
	runningOnValgrind = 0x1001
	makeUndefined     = 0x4d430001 // 'M' 'C' << 16 + 1
	makeDefined       = 0x4d430002
)

// Running reports whether the program runs under valgrind and can speak to it.
func Running() bool { return request(runningOnValgrind, nil) != 0 }

// MakeUndefined declares b a secret.
func MakeUndefined(b []byte) {
	if len(b) > 0 {
		request(makeUndefined, b)
	}
}

// MakeDefined declares b public.
func MakeDefined(b []byte) {
	if len(b) > 0 {
		request(makeDefined, b)
	}
}
