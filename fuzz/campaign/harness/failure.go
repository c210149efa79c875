package harness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"sealab/fuzz/engine"
)

// A Kind is a way to fail.
type Kind string

// The kinds of failure.
const (
	KindError  Kind = "error"  // the target returned an error
	KindPanic  Kind = "panic"  // a panic in the goroutine of the target
	KindFatal  Kind = "fatal"  // a panic elsewhere, or a fatal error of the runtime
	KindMemory Kind = "memory" // more memory than the limit
	KindHang   Kind = "hang"   // more time than the limit
	KindLost   Kind = "lost"   // the process ended, but the input passes if it runs again
)

// EndsProcess reports whether a failure of this kind ends its process.
func (k Kind) EndsProcess() bool { return k != KindError && k != KindPanic }

// A CheckError is the error of a target. The check names the relation that failed, in the same
// words for all designs and inputs.
type CheckError struct {
	Check  string // "an altered token is accepted"
	Design string // may be empty
	Detail string // the values involved
}

// Fail returns a CheckError. detail is the format string for values.
func Fail(design, check, detail string, values ...any) error {
	return &CheckError{Check: check, Design: design, Detail: fmt.Sprintf(detail, values...)}
}

// Error implements error. The check comes first, because lines are truncated.
func (e *CheckError) Error() string {
	text := e.Check
	if e.Design != "" {
		text += ": " + e.Design
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// A Failure describes one failing input.
type Failure struct {
	Kind   Kind   `json:"kind"`
	Bucket string `json:"bucket"` // the same for failures with the same cause
	Text   string `json:"text"`   // the error or panic value
	Design string `json:"design,omitempty"`
	Stack  string `json:"stack"` // of the first goroutine; empty for KindError
}

// Frames returns the functions on the stack of the failure, innermost first.
func (f *Failure) Frames() []string { return engine.Frames(f.Stack, observerFrame) }

// output formats the failure for output.txt.
func (f *Failure) output() string { return fmt.Sprintf("%s: %s\n\n%s", f.Kind, f.Text, f.Stack) }

// observe runs one input and returns its failure, or nil if it passes.
func observe(run func([]byte) error, input []byte) (failed *Failure) {
	defer func() {
		if r := recover(); r != nil {
			failed = newFailure(KindPanic, fmt.Sprint(r), string(debug.Stack()))
		}
	}()
	err := run(input)
	if err == nil {
		return nil
	}
	failed = newFailure(KindError, err.Error(), "")
	if check, ok := errors.AsType[*CheckError](err); ok {
		failed.Bucket, failed.Design = bucketName(KindError, check.Check), check.Design
	}
	return failed
}

// observerFrame is the prefix of the function that calls the target. Frames outside it differ
// between a campaign and a replay.
const observerFrame = "sealab/fuzz/campaign/harness.observe("

func newFailure(kind Kind, text, stack string) *Failure {
	return &Failure{Kind: kind, Bucket: stackBucket(kind, text, stack), Text: text, Stack: stack}
}

// maxFrames is the number of innermost frames that identify a cause. ClusterFuzz uses three.
const maxFrames = 3

// stackBucket returns the bucket name of a failure that is not a CheckError: its kind and a digest
// of its innermost frames. If there are no frames, it digests the text.
func stackBucket(kind Kind, text, stack string) string {
	frames := engine.Frames(stack, observerFrame)
	if kind == KindHang || kind == KindMemory {
		// The innermost frames, where the process was interrupted or allocated, vary by chance.
		// The path from the target does not.
		frames = frames[max(0, len(frames)-2):]
	}
	cause := strings.Join(frames[:min(len(frames), maxFrames)], "\n")
	if cause == "" {
		cause = normalText(text)
	}
	return bucketName(kind, cause)
}

func bucketName(kind Kind, cause string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\n" + cause))
	return string(kind) + "-" + hex.EncodeToString(sum[:5])
}

var (
	quotedText   = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	variableText = regexp.MustCompile(`\b(0x[0-9a-f]+|[0-9a-f]{8,}|\d+)\b|\[[\d ]*\]`)
)

// normalText returns the first line of text without the parts that vary between inputs.
func normalText(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return variableText.ReplaceAllString(quotedText.ReplaceAllString(text, "Q"), "N")
}

// DeathFailure returns the failure of an input that ended its process. crash is the crash
// output with the stack, and output is everything that the process printed.
func DeathFailure(crash, output string) *Failure {
	if crash == "" {
		return newFailure(KindMemory, "the process was killed during this input, as the kernel does if memory is short", output)
	}
	text := engine.Reason(crash + "\n" + output)
	switch {
	case engine.OutOfMemory(crash + "\n" + output):
		// Another goroutine may have requested the memory.
		return newFailure(KindMemory, cmp.Or(text, unexplainedEnd), goroutineOfTarget(crash))
	case Hung(crash):
		text, _, _ = strings.Cut(crash, "\n")
		return newFailure(KindHang, text, crash)
	}
	return newFailure(KindFatal, cmp.Or(text, unexplainedEnd), crash)
}

// unexplainedEnd is the text for a death without a reason.
const unexplainedEnd = "the process ended during this input"

// goroutineOfTarget returns the goroutine in stacks that runs the input.
func goroutineOfTarget(stacks string) string {
	return engine.GoroutineOf(stacks, "harness.observe(", "harness.runInput(")
}

// hangText begins the crash output of a process whose input hangs.
const hangText = "the input hangs"

// Hung reports whether a process ended because its input exceeded the time limit. On a busy
// machine such an input may pass later.
func Hung(crash string) bool { return strings.HasPrefix(crash, hangText) }

// LostFailure returns the failure of an input that ended its process once but passes if it runs
// again.
func LostFailure(input []byte, crash string) *Failure {
	f := newFailure(KindLost, "the process ended during this input, which passes if it runs again", crash)
	if crash == "" { // only the input identifies the failure
		f.Bucket += "-" + Name(input)
	}
	return f
}
