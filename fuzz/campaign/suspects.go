package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sealab/fuzz/corpus"
	"sealab/fuzz/harness"
	"sealab/internal/atomicfile"
)

// A suspect is an input that may have ended its process.
type suspect struct {
	input     []byte
	lastWords string
}

// suspects returns the inputs that may have ended a process of t: those that
// have last words, where there are none those that were running, and what the
// engine filed itself.
func (f folder) suspects(t Target) (all []suspect, notices []string) {
	running, err := harness.ReadInterrupted(f.scratch(t))
	if err != nil {
		notices = append(notices, err.Error())
	}
	var silent []suspect
	for _, r := range running {
		s := suspect{r.Input, r.LastWords}
		if r.LastWords == "" {
			silent = append(silent, s)
			continue
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = silent
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
				all = append(all, suspect{input: input})
				continue
			}
		}
		notices = append(notices, fmt.Sprintf("%s: %v", path, err))
	}
	return all, notices
}

// tryAgain runs the suspects of t again and files those that fail. What is to
// be said of one that holds now, if anything, unexplained says. When all are
// filed the scratch folder goes.
func (c *Campaign) tryAgain(ctx context.Context, t Target, unexplained func(suspect) *harness.Verdict) error {
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
		if v == nil {
			v = unexplained(all[i])
		}
		if v == nil {
			continue
		}
		if err := c.folder.fileSuspect(t, all[i].input, v); err != nil {
			return err
		}
	}
	return c.folder.clearScratch(t)
}

// fileSuspect files a crasher. One that ends its process is not run again,
// also when its bucket has another.
func (f folder) fileSuspect(t Target, input []byte, v *harness.Verdict) error {
	if err := harness.File(f.crashers(t.Name), input, v); err != nil {
		return err
	}
	if !v.Kind.Deadly() {
		return nil
	}
	return atomicfile.Write(filepath.Join(f.deadly(t.Name), corpus.Name(input)), input)
}

// afterFailure keeps a suspect of an engine that stopped before its time: one
// of them ended its process, and may do so again.
func afterFailure(s suspect) *harness.Verdict { return harness.LostVerdict(s.input, s.lastWords) }

// afterRestart lets go a suspect without last words: its process ended with
// the supervisor.
func afterRestart(s suspect) *harness.Verdict {
	if s.lastWords == "" {
		return nil
	}
	return harness.LostVerdict(s.input, s.lastWords)
}

func (f folder) clearScratch(t Target) error {
	if err := os.RemoveAll(f.scratch(t)); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}
