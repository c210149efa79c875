package harness

import (
	"encoding/json"
	"fmt"
	"os"
)

// A Job is work with inputs that are there already. A process is given one in
// the file that EnvJob names, and writes its results to Out as JSON Lines.
type Job struct {
	Kind   JobKind  `json:"kind"`
	Inputs [][]byte `json:"inputs"`
	Out    string   `json:"out"`
	Tries  int      `json:"tries,omitempty"` // of JobShrink
}

// A JobKind says what is to be done.
type JobKind string

// The kinds of job.
const (
	JobVerdicts JobKind = "verdicts" // run each input: one Result per input, in order
	JobShrink   JobKind = "shrink"   // make the first input smaller: one Result with Input
	JobCover    JobKind = "cover"    // a small set that covers what all inputs cover: one Result with Kept
	JobRun      JobKind = "run"      // run the seeds and each input, for the coverage that the process writes at its end: no Result
)

// A Result is one line of what a job wrote.
type Result struct {
	Verdict *Verdict `json:"verdict,omitempty"` // nil: everything holds
	Input   []byte   `json:"input,omitempty"`
	Kept    []int    `json:"kept,omitempty"`    // indexes of Inputs
	Covered int      `json:"covered,omitempty"` // features that seeds and inputs cover
}

// runJob does the job in the file at path.
func runJob(path string, s Subject) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	var job Job
	if err := json.Unmarshal(file, &job); err != nil {
		return fmt.Errorf("sealab: %s: %w", path, err)
	}
	out, err := os.Create(job.Out)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	defer out.Close()
	if err := job.do(json.NewEncoder(out), s); err != nil {
		return err
	}
	return out.Close()
}

func (j Job) do(out *json.Encoder, s Subject) error {
	scratch, err := scratchOfEnvironment()
	if err != nil {
		return err
	}
	n, err := watched(scratch, roomForInput)
	if err != nil {
		return err
	}
	observed := func(input []byte) (*Verdict, error) { return n.observe(s.Run, input) }
	switch j.Kind {
	case JobVerdicts:
		return j.verdicts(out, observed)
	case JobShrink:
		return j.shrink(out, s, observed)
	case JobCover:
		return j.cover(out, s.Seeds, observed)
	case JobRun:
		_, err := runAll(s.Seeds, observed)
		if err == nil {
			_, err = runAll(j.Inputs, observed)
		}
		return err
	}
	return fmt.Errorf("sealab: no job %q", j.Kind)
}

// verdicts writes the verdict on each input before the next one runs.
func (j Job) verdicts(out *json.Encoder, run func([]byte) (*Verdict, error)) error {
	for _, input := range j.Inputs {
		v, err := run(input)
		if err != nil {
			return err
		}
		if err := out.Encode(Result{Verdict: v}); err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
	}
	return nil
}

// shrink makes the explicit form of the input smaller, and keeps it explicit. An
// input that fails in no such form is made smaller as it is.
func (j Job) shrink(out *json.Encoder, s Subject, run func([]byte) (*Verdict, error)) error {
	if len(j.Inputs) != 1 {
		return fmt.Errorf("sealab: %d inputs to shrink, want 1", len(j.Inputs))
	}
	whole := j.Inputs[0]
	want, err := run(whole)
	if err != nil || want == nil {
		return err
	}
	fails := func(candidate []byte) bool {
		v, err := run(candidate)
		return err == nil && v != nil && v.Bucket == want.Bucket
	}
	var small []byte
	if explicit := s.explicit(whole); fails(explicit) {
		small = Shrink(explicit, j.Tries, func(candidate []byte) bool { return s.isExplicit(candidate) && fails(candidate) })
	} else {
		small = Shrink(whole, j.Tries, fails)
	}
	return out.Encode(Result{Verdict: want, Input: small})
}

// runAll runs inputs and returns how many of them fail.
func runAll(inputs [][]byte, run func([]byte) (*Verdict, error)) (failed int, err error) {
	for _, input := range inputs {
		v, err := run(input)
		if err != nil {
			return failed, err
		}
		if v != nil {
			failed++
		}
	}
	return failed, nil
}
