package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sealab/fuzz/campaign/corpus"
	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

// A Crasher is the failure that is kept of all that have one cause. Its folder has
// the input as it was found and the output, which the harness files, and then
//
//	minimized           the smallest input found that fails for the same cause
//	history/            the inputs that must run before it in the same process, if any, in the order of their names
//	corpus/<hash>       the same as a file of testdata/fuzz/<FuzzX>
//	reproduce.sh        the command that runs it, from the root of the repository
//	regression_test.go  a test to commit beside the fuzz functions
//	crasher.json        this, when all else is there
type Crasher struct {
	Target    string       `json:"target"`
	Bucket    string       `json:"bucket"`
	Kind      harness.Kind `json:"kind"`
	Text      string       `json:"text"`
	Found     time.Time    `json:"found"`
	Size      int          `json:"size"`
	Minimized int          `json:"minimized"` // its size

	// Alone says that the smallest input fails in a process that ran nothing
	// before it. One that does not needs what earlier inputs left in memory, a
	// cache say: After is how many, in history/.
	Alone bool `json:"alone"`
	After int  `json:"after,omitempty"`

	// Unexplained is why it does not fail again, and reproduce.sh shows nothing;
	// empty where it does.
	Unexplained string `json:"unexplained,omitempty"`
}

const (
	crasherFile   = "crasher.json"
	minimizedFile = "minimized"
	historyFolder = "history"
)

// complete writes what the crashers of t still lack.
func (c *Campaign) complete(ctx context.Context, t Target) error {
	folders, err := os.ReadDir(c.folder.crashers(t.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, f := range folders {
		dir := filepath.Join(c.folder.crashers(t.Name), f.Name())
		if strings.HasPrefix(f.Name(), ".") {
			continue // being filed
		}
		if _, err := os.Stat(filepath.Join(dir, crasherFile)); err == nil {
			continue
		}
		if err := c.completeOne(ctx, t, dir); err != nil {
			return err
		}
	}
	return nil
}

func (c *Campaign) completeOne(ctx context.Context, t Target, dir string) error {
	input, verdict, err := readFiled(dir)
	if err != nil {
		notice, moved := c.folder.moveAway(dir, err)
		return errors.Join(moved, c.notice(t, notice))
	}
	before, err := readBefore(dir)
	if err != nil {
		return err
	}
	small, unexplained, err := c.smallest(ctx, t, sequence{before, input}, verdict)
	if err != nil {
		return err
	}
	k := Crasher{Target: t.Name, Bucket: verdict.Bucket, Kind: verdict.Kind, Text: verdict.Text, Found: c.config.Now(),
		Size: len(input), Minimized: len(small.input), Alone: unexplained == "" && len(small.before) == 0, After: len(small.before), Unexplained: unexplained}
	if err := c.writeCrasher(t, dir, k, small); err != nil {
		return err
	}
	c.config.Log(fmt.Sprintf("%s: %s: %s (%s)", t.Name, k.Kind, oneLine(k.Text), dir))
	return c.journal.append(Record{Time: c.config.Now(), Event: EventCrasher, Target: t.Name, Text: k.Bucket})
}

// writeCrasher writes the files of a crasher beside those of the harness.
func (c *Campaign) writeCrasher(t Target, dir string, k Crasher, small sequence) error {
	test, err := regressionTest(k, c.source.Name, small)
	if err != nil {
		return err
	}
	if err := writeHistory(dir, small.before); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "corpus"), 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	native := corpus.Marshal(small.input)
	for _, file := range []struct {
		name string
		data []byte
	}{
		{minimizedFile, small.input},
		{filepath.Join("corpus", corpus.Name(native)), native},
		{"reproduce.sh", reproduction(k, t, c.source.ImportPath, c.config.Tags, c.config.Env)},
		{"regression_test.go", test},
		{crasherFile, data}, // last: it says that the others are there
	} {
		if err := atomicfile.Write(filepath.Join(dir, file.name), file.data); err != nil {
			return err
		}
	}
	return k.forgetBefore(dir)
}

// forgetBefore removes what ran before a crasher that fails again without all of
// it. That of one that does not is kept for a person.
func (k Crasher) forgetBefore(dir string) error {
	if k.Unexplained != "" {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, harness.BeforeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sealab: %w", err)
	}
	return nil
}

// readFiled returns what the harness filed.
func readFiled(dir string) (input []byte, v *harness.Verdict, err error) {
	input, err = os.ReadFile(filepath.Join(dir, harness.InputFile))
	if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, harness.VerdictFile))
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", harness.VerdictFile, err)
	}
	return input, v, nil
}

func oneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > 200 {
		line = line[:200] + "..."
	}
	return line
}
