package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

// A Crasher is the one failure that is kept among all with the same cause. Its folder holds the
// files of package harness and
//
//	minimized           the smallest input with a failure of the same cause
//	history/            inputs that must run before it in the same process, if any, in the order of their names
//	corpus/<hash>       the minimized input as a file of testdata/fuzz/<FuzzX>
//	reproduce.sh        a command that runs it, to call in the root of the repository
//	regression_test.go  a test to commit beside the fuzz functions
//	crasher.json        this value, written last
type Crasher struct {
	Target    string       `json:"target"`
	Bucket    string       `json:"bucket"`
	Kind      harness.Kind `json:"kind"`
	Text      string       `json:"text"`
	Found     time.Time    `json:"found"`
	Size      int          `json:"size"`
	Minimized int          `json:"minimized"` // size of the minimized input

	// Alone reports that the minimized input fails in a new process. If it does not, it depends
	// on earlier inputs, for example through a cache. After is the number of those.
	Alone bool `json:"alone"`
	After int  `json:"after,omitempty"`

	// Unexplained is the reason why the input does not fail again, or "" if it does.
	Unexplained string `json:"unexplained,omitempty"`
}

// Condition describes the conditions of the failure other than the input, or "".
func (k Crasher) Condition() string {
	switch {
	case k.Unexplained != "":
		return ", does not fail again: " + k.Unexplained
	case k.After > 0:
		return fmt.Sprintf(", fails after the inputs in history/: %d", k.After)
	}
	return ""
}

const (
	crasherFile   = "crasher.json"
	minimizedFile = "minimized"
	historyFolder = "history"
)

// complete writes the missing files of the crashers of t.
func (c *Campaign) complete(ctx context.Context, t Target) error {
	names, err := namesIn(c.folder.crashers(t.Name))
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Join(c.folder.crashers(t.Name), name)
		if strings.HasPrefix(name, ".") {
			continue // half-written
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
	input, failed, err := readFiled(dir)
	if err != nil {
		notice, moved := c.folder.moveAway(dir, err)
		return errors.Join(moved, c.notice(t, notice))
	}
	before, err := readBefore(dir)
	if err != nil {
		return err
	}
	small, unexplained, err := c.smallest(ctx, t, inputSequence{before, input}, failed)
	if err != nil {
		return err
	}
	k := Crasher{Target: t.Name, Bucket: failed.Bucket, Kind: failed.Kind, Text: failed.Text, Found: c.config.Now(),
		Size: len(input), Minimized: len(small.input), Alone: unexplained == "" && len(small.before) == 0, After: len(small.before), Unexplained: unexplained}
	if err := c.writeCrasher(t, dir, k, small); err != nil {
		return err
	}
	c.config.log(fmt.Sprintf("%s: %s: %s (%s)", t.Name, k.Kind, OneLine(k.Text), dir))
	return c.journal.append(Record{Time: c.config.Now(), Event: eventCrasher, Target: t.Name, Text: k.Bucket})
}

// writeCrasher writes the files of a crasher that the harness does not write. If a regression
// test cannot be generated, that is only noted, because the other files suffice.
func (c *Campaign) writeCrasher(t Target, dir string, k Crasher, small inputSequence) error {
	test, err := regressionTest(k, c.source.Name, small)
	if err != nil {
		if err := c.notice(t, err.Error()); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, historyFolder)); err != nil { // left by a killed process
		return err
	}
	native := harness.Marshal(small.input)
	files := map[string][]byte{
		minimizedFile: small.input,
		filepath.Join("corpus", harness.Name(native)): native,
		"reproduce.sh": reproductionScript(k, t, c.source.ImportPath, c.config.Tags, c.config.Env),
	}
	if test != nil {
		files["regression_test.go"] = test
	}
	for i, input := range small.before {
		files[filepath.Join(historyFolder, fmt.Sprintf("%06d", i))] = input
	}
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(path, data); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(filepath.Join(dir, crasherFile), data); err != nil { // last: marks completion
		return err
	}
	if k.Unexplained != "" {
		return nil // a person may need the earlier inputs
	}
	if err := os.Remove(filepath.Join(dir, harness.BeforeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readFiled returns the input and failure in the folder of a crasher. The folder must be named
// after the bucket.
func readFiled(dir string) (input []byte, failed *harness.Failure, err error) {
	input, err = os.ReadFile(filepath.Join(dir, harness.InputFile))
	if err != nil {
		return nil, nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, harness.FailureFile))
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", harness.FailureFile, err)
	}
	if failed == nil || failed.Bucket != filepath.Base(dir) || !targetName.MatchString(failed.Bucket) {
		return nil, nil, fmt.Errorf("%s: want a failure of bucket %s", harness.FailureFile, filepath.Base(dir))
	}
	return input, failed, nil
}

// readBefore returns the recorded inputs that ran before a crasher.
func readBefore(dir string) ([][]byte, error) {
	file, err := os.ReadFile(filepath.Join(dir, harness.BeforeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	before, err := harness.DecodeBefore(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return before, nil
}

// A FoundCrasher is a crasher on disk.
type FoundCrasher struct {
	Crasher
	Dir      string
	Designs  []string // in which the failure occurred
	Stack    []string // frames, innermost first
	Complete bool     // false if not yet minimized, or unreadable
}

// ReadCrashers returns the crashers of a target of the campaign in dir, complete or not, in the
// order in which they were found.
func ReadCrashers(dir string, t Target) ([]FoundCrasher, error) {
	crashers := folder(dir).crashers(t.Name)
	names, err := namesIn(crashers)
	if err != nil {
		return nil, err
	}
	var all []FoundCrasher
	for _, name := range names {
		if !strings.HasPrefix(name, ".") {
			all = append(all, readCrasher(filepath.Join(crashers, name), t))
		}
	}
	slices.SortFunc(all, func(a, b FoundCrasher) int {
		return cmp.Or(a.Found.Compare(b.Found), cmp.Compare(a.Bucket, b.Bucket))
	})
	return all, nil
}

// readCrasher returns the crasher in dir. If files are missing or damaged, the text gives the
// reason.
func readCrasher(dir string, t Target) FoundCrasher {
	k := FoundCrasher{Crasher: Crasher{Target: t.Name, Bucket: filepath.Base(dir)}, Dir: dir}
	input, failed, err := readFiled(dir)
	if err != nil {
		k.Text = fmt.Sprintf("unreadable: %v", err)
		return k
	}
	k.Kind, k.Text, k.Size, k.Stack = failed.Kind, failed.Text, len(input), failed.Frames()
	k.Designs, err = harness.ReadSeen(dir)
	data, readErr := os.ReadFile(filepath.Join(dir, crasherFile))
	if err = errors.Join(err, readErr); err == nil {
		whole := k.Crasher
		if err = json.Unmarshal(data, &whole); err == nil && whole.Target == t.Name && whole.Bucket == k.Bucket {
			k.Crasher, k.Complete = whole, true
		}
	}
	return k
}
