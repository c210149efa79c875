package harness

import (
	"fmt"
	"runtime/debug"
)

// A Kind is the way in which an input fails.
type Kind string

// The kinds of failure.
const (
	KindError  Kind = "error"  // the target returned an error
	KindPanic  Kind = "panic"  // a panic in the target's goroutine
	KindFatal  Kind = "fatal"  // a panic elsewhere, or a fatal error of the runtime
	KindMemory Kind = "memory" // more memory than allowed
	KindHang   Kind = "hang"   // longer than allowed
	KindLost   Kind = "lost"   // the process ended in it, and did not when it was run again
)

// Deadly reports whether a failure of this kind ends its process.
func (k Kind) Deadly() bool { return k != KindError && k != KindPanic }

// A Verdict is what is known of one failure.
type Verdict struct {
	Kind   Kind   `json:"kind"`
	Bucket string `json:"bucket"` // failures with one cause share it
	Text   string `json:"text"`   // the error or panic value
	Stack  string `json:"stack"`  // of the first goroutine; empty for KindError
}

// observe runs one input and returns nil where everything holds.
func observe(run func([]byte) error, input []byte) (v *Verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = newVerdict(KindPanic, fmt.Sprint(r), string(debug.Stack()))
		}
	}()
	if err := run(input); err != nil {
		return newVerdict(KindError, err.Error(), "")
	}
	return nil
}

func newVerdict(kind Kind, text, stack string) *Verdict {
	return &Verdict{Kind: kind, Bucket: bucket(kind, text, stack), Text: text, Stack: stack}
}

// Output is the verdict as a person reads it.
func (v *Verdict) Output() string {
	return fmt.Sprintf("%s: %s\n\n%s", v.Kind, v.Text, v.Stack)
}
