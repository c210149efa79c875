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
	"sealab/internal/child"
)

// A jobEnd is how the process of a job ended.
type jobEnd struct {
	results     []harness.Result
	interrupted []harness.Interrupted // the input that ended it, if one did
	output      string
	err         error // of the process
}

// run runs a job with the binary that fuzzes, in a process of its own.
func (c *Campaign) run(ctx context.Context, t Target, job harness.Job) (jobEnd, error) {
	return c.runWith(ctx, job, exec.CommandContext(ctx, c.folder.binary(fuzzBinary), "-test.run=^"+t.Native+"$", "-test.timeout=0"))
}

// runCovered runs a job with the binary that knows what inputs cover. It writes
// what they all cover to the folder profile.
func (c *Campaign) runCovered(ctx context.Context, t Target, job harness.Job, profile string) (jobEnd, error) {
	cmd := exec.CommandContext(ctx, c.folder.binary(replayBinary), t.Name)
	cmd.Env = []string{"GOCOVERDIR=" + profile}
	return c.runWith(ctx, job, cmd)
}

func (c *Campaign) runWith(ctx context.Context, job harness.Job, cmd *exec.Cmd) (jobEnd, error) {
	var end jobEnd
	dir, err := os.MkdirTemp(c.folder.scratches(), "job-")
	if err != nil {
		return end, fmt.Errorf("sealab: %w", err)
	}
	defer os.RemoveAll(dir)
	job.Out = filepath.Join(dir, "results")
	path := filepath.Join(dir, "job")
	data, err := json.Marshal(job)
	if err != nil {
		return end, fmt.Errorf("sealab: %w", err)
	}
	if err := atomicfile.Write(path, data); err != nil {
		return end, err
	}
	cmd.Dir = dir
	cmd.Env = append(c.environment(dir, harness.EnvJob+"="+path), cmd.Env...)
	cmd.SysProcAttr = child.Attributes()
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

// fault is an end that no input explains.
func (e jobEnd) fault(t Target, kind harness.JobKind) error {
	return fmt.Errorf("sealab: %s: the process for %s ended (%v) without one result each: %.2000s", t.Name, kind, e.err, e.output)
}

// readResults returns what a job wrote, to the last whole line.
func readResults(path string) ([]harness.Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: a job wrote nothing: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	var results []harness.Result
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var r harness.Result
		if err := dec.Decode(&r); err == io.EOF {
			return results, nil
		} else if err != nil {
			return nil, fmt.Errorf("sealab: %s: %w", path, err)
		}
		results = append(results, r)
	}
}

// verdicts runs inputs again, each until its end or that of its process, and
// returns the verdict on each, nil where everything holds.
func (c *Campaign) verdicts(ctx context.Context, t Target, inputs [][]byte) ([]*harness.Verdict, error) {
	var all []*harness.Verdict
	for len(all) < len(inputs) {
		end, err := c.run(ctx, t, harness.Job{Kind: harness.JobVerdicts, Inputs: inputs[len(all):]})
		if err != nil {
			return nil, err
		}
		for _, r := range end.results {
			all = append(all, r.Verdict)
		}
		switch {
		case len(all) == len(inputs):
		case len(end.interrupted) == 1:
			all = append(all, harness.LastVerdict(end.interrupted[0].LastWords, end.output))
		default:
			return nil, end.fault(t, harness.JobVerdicts)
		}
	}
	return all, nil
}
