package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

// A suspect is an input that may have ended its process.
type suspect struct {
	inputSequence
	crash string // the crash output
}

// suspects returns the suspects of t: the inputs that were running, and those that the engine
// filed.
func (f folder) suspects(t Target) (all []suspect, notices []string) {
	running, err := harness.ReadInterrupted(f.scratch(t))
	if err != nil {
		notices = append(notices, err.Error())
	}
	for _, r := range running {
		all = append(all, suspect{inputSequence{r.Before, r.Input}, r.Crash})
	}
	dir := filepath.Join(f.scratch(t), "testdata", "fuzz", t.Native)
	names, err := namesIn(dir)
	if err != nil {
		notices = append(notices, err.Error())
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		var input []byte
		if err == nil {
			input, err = harness.Unmarshal(data)
		}
		if err != nil {
			notices = append(notices, fmt.Sprintf("%s: %v", filepath.Join(dir, name), err))
			continue
		}
		all = append(all, suspect{inputSequence: inputSequence{input: input}})
	}
	return all, notices
}

// retry reruns the suspects of t, files those that fail, and removes the scratch folder. If a
// suspect passes, needsCause reports whether to look for the cause of its process's end.
func (c *Campaign) retry(ctx context.Context, t Target, needsCause func(s suspect, all []suspect) bool) error {
	all, notices := c.folder.suspects(t)
	for _, n := range notices {
		if err := c.notice(t, n); err != nil {
			return err
		}
	}
	inputs := make([][]byte, len(all))
	for i, s := range all {
		inputs[i] = s.input
	}
	failures, err := c.failures(ctx, t, inputs)
	if err != nil {
		return err
	}
	for i, failed := range failures {
		if failed == nil && needsCause(all[i], all) {
			if failed, err = c.explain(ctx, t, all[i]); err != nil {
				return err
			}
		}
		if failed == nil {
			continue
		}
		if err := c.folder.fileSuspect(t, all[i].inputSequence, failed); err != nil {
			return err
		}
	}
	return c.folder.clearScratch(t)
}

// explain returns the failure of a suspect that passes alone: its failure after the inputs
// before it, or else as lost. It returns nil if the input is not shown to be the cause.
func (c *Campaign) explain(ctx context.Context, t Target, s suspect) (*harness.Failure, error) {
	if len(s.before) > 0 {
		if failed, err := c.failureAfter(ctx, t, s.inputSequence); err != nil || failed != nil {
			return failed, err
		}
	}
	switch {
	case s.crash == "":
		return nil, c.keep(t, s.input, "something killed its process (little memory, or a stopped machine)")
	case harness.Hung(s.crash):
		return nil, c.keep(t, s.input, "it took too long")
	}
	return harness.LostFailure(s.input, s.crash), nil
}

// keep adds an input that failed once but passes now to the corpus, so that it runs again.
func (c *Campaign) keep(t Target, input []byte, reason string) error {
	if _, err := addToCorpus(c.folder.corpus(t), input); err != nil {
		return err
	}
	return c.notice(t, fmt.Sprintf("%s: added an input of %d bytes to the corpus: %s, and it passes if it runs again", t.Name, len(input), reason))
}

// fileSuspect files a crasher. If the input ends its process, it is skipped from now on.
func (f folder) fileSuspect(t Target, s inputSequence, failed *harness.Failure) error {
	if err := harness.File(f.crashers(t.Name), s.input, s.before, failed); err != nil {
		return err
	}
	if !failed.Kind.EndsProcess() {
		return nil
	}
	return atomicfile.Write(filepath.Join(f.skip(t.Name), harness.Name(s.input)), s.input)
}

// explainAfterFailure selects the suspects to explain after the engine stopped early. A suspect
// without crash output is selected only if no suspect has one. Otherwise another suspect caused
// the engine to end its process.
func explainAfterFailure(s suspect, all []suspect) bool {
	return s.crash != "" || !slices.ContainsFunc(all, func(s suspect) bool { return s.crash != "" })
}

// explainAfterRestart skips suspects without crash output, because their process ended with the
// supervisor.
func explainAfterRestart(s suspect, _ []suspect) bool { return s.crash != "" }

// checkRoom returns an error if the disk has no room for a worker's input log. The engine does
// not report this error of a worker.
func (f folder) checkRoom(t Target) error {
	path := filepath.Join(f.scratch(t), "room") // clearScratch removes it
	if err := atomicfile.Write(path, make([]byte, harness.LogSize)); err != nil {
		return fmt.Errorf("%w; want %d MiB for each worker", err, harness.LogSize>>20)
	}
	return nil
}

func (f folder) clearScratch(t Target) error { return os.RemoveAll(f.scratch(t)) }

// An Imported counts the new findings of another engine.
type Imported struct{ Inputs, Buckets int }

// Import adds another engine's findings for a target: inputs to the corpus, and failing inputs
// to their buckets. It reruns the failing inputs. If one passes here, it is filed as lost, with
// the output of the other engine.
func (c *Campaign) Import(ctx context.Context, t Target, inputs [][]byte, failing []harness.Crasher) (Imported, error) {
	var n Imported
	for _, input := range inputs {
		added, err := addToCorpus(c.folder.corpus(t), input)
		if err != nil {
			return n, err
		}
		if added {
			n.Inputs++
		}
	}
	before, err := namesIn(c.folder.crashers(t.Name))
	if err != nil {
		return n, err
	}
	var again [][]byte
	for _, f := range failing {
		again = append(again, f.Input)
	}
	failures, err := c.failures(ctx, t, again)
	if err != nil {
		return n, err
	}
	for i, failed := range failures {
		if failed == nil {
			failed = harness.LostFailure(failing[i].Input, failing[i].Output)
		}
		if err := c.folder.fileSuspect(t, inputSequence{input: failing[i].Input}, failed); err != nil {
			return n, err
		}
	}
	if err := c.complete(ctx, t); err != nil {
		return n, err
	}
	after, err := namesIn(c.folder.crashers(t.Name))
	n.Buckets = len(after) - len(before)
	return n, err
}
