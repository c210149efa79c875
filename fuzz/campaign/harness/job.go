package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"sealab/internal/atomicfile"
)

// A Job is work on given inputs. A process reads it from the file in EnvJob and
// writes its results to Out as JSON Lines.
type Job struct {
	Kind   JobKind  `json:"kind"`
	Inputs [][]byte `json:"inputs"`
	Out    string   `json:"out"`
	Tries  int      `json:"tries,omitempty"` // for JobShrink
}

// A JobKind is a kind of work.
type JobKind string

// The kinds of job.
const (
	JobObserve JobKind = "observe" // run each input: one Result per input, in order
	JobShrink  JobKind = "shrink"  // minimize the first input: one Result with Input
	JobSelect  JobKind = "select"  // select few inputs that cover the same: one Result with Kept
	JobCover   JobKind = "cover"   // run the seeds and each input, for coverage files: no Result
)

// A Result is one line of the output of a job.
type Result struct {
	Failure *Failure `json:"failure,omitempty"` // nil if the input passes
	Input   []byte   `json:"input,omitempty"`
	Kept    []int    `json:"kept,omitempty"`    // indexes of Inputs
	Covered int      `json:"covered,omitempty"` // features of seeds and inputs
}

// runJob runs the job in the file at path.
func runJob(path string, fn Func) error {
	var job Job
	if err := atomicfile.ReadJSON(path, &job, "a job"); err != nil {
		return err
	}
	out, err := os.Create(job.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := job.run(json.NewEncoder(out), fn); err != nil {
		return err
	}
	return out.Close()
}

func (j Job) run(out *json.Encoder, fn Func) error {
	scratch, err := scratchFolder()
	if err != nil {
		return err
	}
	log, err := limitProcess(scratch, roomForInput)
	if err != nil {
		return err
	}
	run := func(input []byte) (*Failure, error) { return log.observe(fn.Run, input) }
	switch j.Kind {
	case JobObserve:
		return j.observe(out, run)
	case JobShrink:
		return j.shrink(out, fn, run)
	case JobSelect:
		return j.selectInputs(out, fn.Seeds, run)
	case JobCover:
		for _, inputs := range [][][]byte{fn.Seeds, j.Inputs} {
			for _, input := range inputs {
				if _, err := run(input); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return fmt.Errorf("unknown job %q", j.Kind)
}

// observe writes the result of each input before it runs the next one.
func (j Job) observe(out *json.Encoder, run func([]byte) (*Failure, error)) error {
	for _, input := range j.Inputs {
		failed, err := run(input)
		if err == nil {
			err = out.Encode(Result{Failure: failed})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrink minimizes the explicit form of the input and keeps it explicit. If that form passes,
// shrink minimizes the input itself.
func (j Job) shrink(out *json.Encoder, fn Func, run func([]byte) (*Failure, error)) error {
	if len(j.Inputs) != 1 {
		return fmt.Errorf("%d inputs to minimize; want 1", len(j.Inputs))
	}
	input := j.Inputs[0]
	want, err := run(input)
	if err != nil || want == nil {
		return err
	}
	fails := func(candidate []byte) bool {
		failed, err := run(candidate)
		return err == nil && failed != nil && failed.Bucket == want.Bucket
	}
	var small []byte
	if explicit := fn.explicit(input); fails(explicit) {
		small = Shrink(explicit, j.Tries, func(candidate []byte) bool { return fn.isExplicit(candidate) && fails(candidate) })
	} else {
		small = Shrink(input, j.Tries, fails)
	}
	return out.Encode(Result{Failure: want, Input: small})
}

// Shrink returns a minimized failing input. It removes pieces, sets bytes to zero, and removes
// pieces again. It calls fails at most tries times. The input itself must fail.
func Shrink(input []byte, tries int, fails func([]byte) bool) []byte {
	s := shrinker[byte]{best: bytes.Clone(input), tries: tries, fails: fails}
	s.cutAll()
	if zeroAll(&s) {
		s.cutAll()
	}
	return s.best
}

// zeroAll sets each byte to zero if the input still fails. It reports whether it changed a
// byte.
func zeroAll(s *shrinker[byte]) (progress bool) {
	for i, b := range s.best {
		if b == 0 || s.tries <= 0 {
			continue
		}
		candidate := bytes.Clone(s.best)
		candidate[i] = 0
		progress = s.try(candidate) || progress
	}
	return progress
}

// ShrinkList is Shrink for a list of inputs. It removes elements only.
func ShrinkList(inputs [][]byte, tries int, fails func([][]byte) bool) [][]byte {
	s := shrinker[[]byte]{best: inputs, tries: tries, fails: fails}
	s.cutAll()
	return s.best
}

type shrinker[E any] struct {
	best  []E
	tries int
	fails func([]E) bool
}

// cutAll removes pieces until a round has no effect.
func (s *shrinker[E]) cutAll() {
	for progress := true; progress && s.tries > 0; {
		progress = s.cut()
	}
}

// cut removes pieces, large ones first. It reports whether it removed any.
func (s *shrinker[E]) cut() bool {
	before := len(s.best)
	for size := max(1, len(s.best)); size > 0; size /= 2 {
		for at := 0; at+size <= len(s.best) && s.tries > 0; {
			if !s.try(append(s.best[:at:at], s.best[at+size:]...)) {
				at += size
			}
		}
	}
	return len(s.best) < before
}

// try makes candidate the best input if it fails too.
func (s *shrinker[E]) try(candidate []E) bool {
	if s.tries--; !s.fails(candidate) {
		return false
	}
	s.best = candidate
	return true
}
