package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
	"sealab/internal/command"
)

// A jobEnd describes how the process of a job ended.
type jobEnd struct {
	results     []harness.Result
	interrupted []harness.Interrupted // the input that ended the process, if any
	output      string
	err         error // error of the process
}

// run runs a job with the fuzzing program, in a separate process.
func (c *Campaign) run(ctx context.Context, t Target, job harness.Job) (jobEnd, error) {
	return c.runWith(ctx, job, exec.CommandContext(ctx, c.folder.program(fuzzProgram), "-test.run=^"+t.Native+"$", "-test.timeout=0"))
}

// runCovered runs a job under coverage. The process writes its counters to folder counters.
func (c *Campaign) runCovered(ctx context.Context, t Target, job harness.Job, counters string) (jobEnd, error) {
	cmd := exec.CommandContext(ctx, c.folder.program(replayProgram), t.Name)
	cmd.Env = []string{"GOCOVERDIR=" + counters}
	return c.runWith(ctx, job, cmd)
}

func (c *Campaign) runWith(ctx context.Context, job harness.Job, cmd *exec.Cmd) (jobEnd, error) {
	var end jobEnd
	dir, err := os.MkdirTemp(c.folder.path("scratch"), "job-")
	if err != nil {
		return end, err
	}
	defer os.RemoveAll(dir)
	job.Out = filepath.Join(dir, "results")
	path := filepath.Join(dir, "job")
	if err := atomicfile.WriteJSON(path, job, ""); err != nil {
		return end, err
	}
	cmd.Dir = dir
	cmd.Env = append(c.environment(dir, harness.EnvJob+"="+path), cmd.Env...)
	cmd.SysProcAttr = command.TiedChild()
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return end, ctx.Err()
	}
	end.output, end.err = string(output), err
	if end.results, err = readResults(job.Out); err != nil {
		return end, fmt.Errorf("%w: %.2000s", err, output)
	}
	if end.err != nil {
		end.interrupted, err = harness.ReadInterrupted(dir)
	}
	return end, err
}

// fault returns the error for a process end that no input explains.
func (e jobEnd) fault(t Target, kind harness.JobKind) error {
	return fmt.Errorf("%s: the process for job %s ended (%v) without one result per input: %.2000s", t.Name, kind, e.err, e.output)
}

// readResults returns the results of a job, up to the last complete line.
func readResults(path string) ([]harness.Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("no results of a job: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	var results []harness.Result
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var r harness.Result
		if err := dec.Decode(&r); err == io.EOF {
			return results, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		results = append(results, r)
	}
}

// failures runs all inputs, with a new process after each input that ends one. It returns the
// failure of each input, or nil if the input passes.
func (c *Campaign) failures(ctx context.Context, t Target, inputs [][]byte) ([]*harness.Failure, error) {
	var all []*harness.Failure
	for len(all) < len(inputs) {
		end, err := c.run(ctx, t, harness.Job{Kind: harness.JobObserve, Inputs: inputs[len(all):]})
		if err != nil {
			return nil, err
		}
		for _, r := range end.results {
			all = append(all, r.Failure)
		}
		switch {
		case len(all) == len(inputs):
		case len(end.interrupted) == 1:
			all = append(all, harness.DeathFailure(end.interrupted[0].Crash, end.output))
		default:
			return nil, end.fault(t, harness.JobObserve)
		}
	}
	return all, nil
}

// failure runs one input and returns its failure, or nil if the input passes.
func (c *Campaign) failure(ctx context.Context, t Target, input []byte) (*harness.Failure, error) {
	all, err := c.failures(ctx, t, [][]byte{input})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
