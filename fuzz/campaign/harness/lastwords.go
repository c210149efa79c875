package harness

import (
	"strings"

	"sealab/fuzz/campaign/corpus"
)

// outOfMemory are what a stack or the output of a process has when the runtime
// could not get memory. The collector of Go 1.26 does not look whether it got
// any for its queues: one time in ten that is where the process faults.
var outOfMemory = []string{"runtime.(*mheap).alloc", "runtime.(*spanQueue).", "out of memory", "cannot allocate memory", "pthread_create failed"}

// LastVerdict returns the verdict on an input that ended its process, from the
// last words, which have the stack, and all that the process said, which has the
// message.
func LastVerdict(lastWords, output string) *Verdict {
	if lastWords == "" {
		return newVerdict(KindMemory, "the process was killed while it ran this input, as the kernel does when memory is short", output)
	}
	kind := KindFatal
	if Hung(lastWords) {
		kind = KindHang
	}
	for _, sign := range outOfMemory {
		if strings.Contains(lastWords, sign) || strings.Contains(output, sign) {
			kind = KindMemory
		}
	}
	stack := lastWords
	if kind == KindMemory { // another goroutine may have been the one that got none
		stack = goroutineOf(lastWords)
	}
	return newVerdict(kind, message(lastWords, output), stack)
}

// Hung reports whether a process ended because its input took too long. On a
// machine that is very busy such an input may well hold.
func Hung(lastWords string) bool { return strings.HasPrefix(lastWords, hangs) }

// message returns the line that says why the process ended.
func message(lastWords, output string) string {
	for line := range strings.Lines(lastWords + "\n" + output) {
		for _, prefix := range []string{hangs, "fatal error: ", "panic: ", "runtime: ", "runtime/cgo: ", "SIG"} {
			if strings.HasPrefix(line, prefix) {
				return strings.TrimSpace(line)
			}
		}
	}
	return "the process ended while it ran this input"
}

// LostVerdict returns the verdict on an input whose process ended while it ran,
// and which holds when it is run again.
func LostVerdict(input []byte, lastWords string) *Verdict {
	text := "the process ended while it ran this input, which holds when it is run again"
	v := newVerdict(KindLost, text, lastWords)
	if lastWords == "" { // nothing but the input tells it from others
		v.Bucket += "-" + corpus.Name(input)
	}
	return v
}
