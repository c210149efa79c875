package engine

import (
	"regexp"
	"slices"
	"strings"
)

var (
	closure = regexp.MustCompile(`(\.func\d+|\.\d+|\.gowrap\d+|-range\d+)+$`)
	generic = regexp.MustCompile(`\[[^\]]*\]`)
)

// commonFrames are prefixes of functions that are on every stack.
var commonFrames = []string{"runtime.", "runtime/debug.", "panic", "testing.", "reflect.", "internal/fuzz.",
	"sealab/fuzz/campaign/harness.", "created by "}

// Frames returns the functions of the first goroutine in a stack trace, innermost first, up to
// the function whose name begins with root. It omits arguments, type parameters, closure
// numbers and common frames, and merges direct recursion into one frame.
func Frames(stack, root string) []string {
	var frames []string
	_, stack, _ = strings.Cut(stack, "goroutine ")
	stack, _, _ = strings.Cut(stack, "\n\n")
	_, stack, _ = strings.Cut(stack, "\n")
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, root) {
			break
		}
		if strings.HasPrefix(line, "\t") || hasPrefixOf(line, commonFrames) {
			continue
		}
		if frame := frameName(strings.TrimSpace(line)); frame != "" && (len(frames) == 0 || frames[len(frames)-1] != frame) {
			frames = append(frames, frame)
		}
	}
	return frames
}

func frameName(line string) string {
	line = generic.ReplaceAllString(line, "")
	if at := strings.LastIndexByte(line, '('); at > 0 {
		line = line[:at]
	}
	return closure.ReplaceAllString(line, "")
}

// GoroutineOf returns the first goroutine in stacks whose stack contains one of the functions,
// or else all of stacks.
func GoroutineOf(stacks string, functions ...string) string {
	for goroutine := range strings.SplitSeq(stacks, "\n\n") {
		if slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(goroutine, f) }) {
			return goroutine
		}
	}
	return stacks
}

// outOfMemory are texts in the trace or output of a process whose runtime got no memory. The
// collector of Go 1.26 does not check the allocation of its queues and faults there about one
// time in ten.
var outOfMemory = []string{"runtime.(*mheap).alloc", "runtime.(*spanQueue).", "out of memory", "cannot allocate memory", "pthread_create failed"}

// OutOfMemory reports whether a trace or output shows that memory ran out.
func OutOfMemory(text string) bool {
	return slices.ContainsFunc(outOfMemory, func(sign string) bool { return strings.Contains(text, sign) })
}

var reasons = []string{"fatal error: ", "panic: ", "runtime: ", "runtime/cgo: ", "SIG"}

// Reason returns the runtime's line that says why a process died, or "".
func Reason(text string) string {
	for line := range strings.Lines(text) {
		if hasPrefixOf(line, reasons) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func hasPrefixOf(line string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) })
}
