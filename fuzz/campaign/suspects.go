package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sealab/fuzz/campaign/corpus"
	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

// A suspect is an input that may have ended its process.
type suspect struct {
	sequence
	lastWords string
}

// suspects returns the inputs that may have ended a process of t: those that
// were running, and what the engine filed itself.
func (f folder) suspects(t Target) (all []suspect, notices []string) {
	running, err := harness.ReadInterrupted(f.scratch(t))
	if err != nil {
		notices = append(notices, err.Error())
	}
	for _, r := range running {
		all = append(all, suspect{sequence{r.Before, r.Input}, r.LastWords})
	}
	filed, err := filepath.Glob(filepath.Join(f.scratch(t), "testdata", "fuzz", t.Native, "*"))
	if err != nil {
		notices = append(notices, err.Error())
	}
	for _, path := range filed {
		data, err := os.ReadFile(path)
		if err == nil {
			var input []byte
			if input, err = corpus.Unmarshal(data); err == nil {
				all = append(all, suspect{sequence: sequence{input: input}})
				continue
			}
		}
		notices = append(notices, fmt.Sprintf("%s: %v", path, err))
	}
	return all, notices
}

// tryAgain runs the suspects of t again and files those that fail. Of one that
// holds now, matters says whether to look for what ended its process. When all
// are filed the scratch folder goes.
func (c *Campaign) tryAgain(ctx context.Context, t Target, matters func(s suspect, all []suspect) bool) error {
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
	verdicts, err := c.verdicts(ctx, t, inputs)
	if err != nil {
		return err
	}
	for i, v := range verdicts {
		if v == nil && matters(all[i], all) {
			if v, err = c.explain(ctx, t, all[i]); err != nil {
				return err
			}
		}
		if v == nil {
			continue
		}
		if err := c.folder.fileSuspect(t, all[i].sequence, v); err != nil {
			return err
		}
	}
	return c.folder.clearScratch(t)
}

// explain returns the verdict on a suspect that holds alone: how it fails after
// what ran before it, or that it is lost. It is nil where nothing says that the
// input was the cause.
func (c *Campaign) explain(ctx context.Context, t Target, s suspect) (*harness.Verdict, error) {
	if len(s.before) > 0 {
		v, err := c.verdictAfter(ctx, t, s.sequence)
		if err != nil || v != nil {
			return v, err
		}
	}
	switch {
	case s.lastWords == "":
		return nil, c.keep(t, s.input, "its process was ended from outside while it ran (too little memory, or a machine that stood still)")
	case harness.Hung(s.lastWords):
		return nil, c.keep(t, s.input, "it took too long")
	}
	return harness.LostVerdict(s.input, s.lastWords), nil
}

// keep keeps an input to which something happened once and not again: it is no
// crasher, and is run again with the corpus.
func (c *Campaign) keep(t Target, input []byte, what string) error {
	if _, err := addToCorpus(c.folder.corpus(t), input); err != nil {
		return err
	}
	return c.notice(t, fmt.Sprintf("%s: an input of %d bytes is in the corpus: %s, and holds when it is run again", t.Name, len(input), what))
}

// fileSuspect files a crasher. One that ends its process is not run again,
// also when its bucket has another.
func (f folder) fileSuspect(t Target, s sequence, v *harness.Verdict) error {
	if err := harness.File(f.crashers(t.Name), s.input, s.before, v); err != nil {
		return err
	}
	if !v.Kind.Deadly() {
		return nil
	}
	return atomicfile.Write(filepath.Join(f.deadly(t.Name), corpus.Name(s.input)), s.input)
}

// afterFailure: a suspect of an engine that stopped before its time matters. One
// without last words does only if no other has any; otherwise the engine ended
// its process because of the other.
func afterFailure(s suspect, all []suspect) bool {
	return s.lastWords != "" || !slices.ContainsFunc(all, func(s suspect) bool { return s.lastWords != "" })
}

// afterRestart lets go a suspect without last words: its process ended with
// the supervisor.
func afterRestart(s suspect, _ []suspect) bool { return s.lastWords != "" }

// checkRoom returns an error where the disk has no room for what a worker writes
// down while it runs. The engine does not pass on what such a worker said.
func (f folder) checkRoom(t Target) error {
	path := filepath.Join(f.scratch(t), "room")
	if err := atomicfile.Write(path, make([]byte, harness.Room)); err != nil {
		return fmt.Errorf("%w; want %d MiB for each worker", err, harness.Room>>20)
	}
	return nil // it goes with the scratch folder
}

func (f folder) clearScratch(t Target) error {
	if err := os.RemoveAll(f.scratch(t)); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}
