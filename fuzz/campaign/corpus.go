package campaign

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sealab/fuzz/campaign/harness"
	"sealab/internal/atomicfile"
)

var errName = errors.New("its name is not the digest of its contents")

// A corpusEntry is one input of a corpus.
type corpusEntry struct {
	path  string
	input []byte
}

// readCorpus returns the inputs in dir, and the reasons for unreadable files by path.
func readCorpus(dir string) (entries []corpusEntry, broken map[string]error, err error) {
	names, err := namesIn(dir)
	if err != nil {
		return nil, nil, err
	}
	broken = map[string]error{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasPrefix(name, ".") {
			continue // half-written
		}
		input, err := readEntry(path)
		if err != nil {
			broken[path] = err
			continue
		}
		entries = append(entries, corpusEntry{path, input})
	}
	return entries, broken, nil
}

func readEntry(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if harness.Name(data) != filepath.Base(path) {
		return nil, errName
	}
	return harness.Unmarshal(data)
}

// addToCorpus writes an input to the corpus in dir and reports whether it is new.
func addToCorpus(dir string, input []byte) (bool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	data := harness.Marshal(input)
	path := filepath.Join(dir, harness.Name(data))
	if _, err := os.Stat(path); err == nil {
		return false, nil
	}
	return true, atomicfile.Write(path, data)
}

// repairCorpus moves the damaged files of a corpus away.
func (f folder) repairCorpus(t Target) (notices []string, err error) {
	_, broken, err := readCorpus(f.corpus(t))
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(broken)) {
		notice, err := f.moveAway(path, broken[path])
		if err != nil {
			return nil, err
		}
		notices = append(notices, notice)
	}
	return notices, nil
}

// addCommitted adds the inputs in the testdata/fuzz folder of the fuzz function to the corpus
// of the target.
func (f folder) addCommitted(t Target, src fuzzPackage) error {
	committed := filepath.Join(src.Dir, "testdata", "fuzz", t.Native)
	names, err := namesIn(committed)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(committed, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		input, err := harness.Unmarshal(data)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if _, err := addToCorpus(f.corpus(t), input); err != nil {
			return err
		}
	}
	return nil
}

func inputsOf(entries []corpusEntry) [][]byte {
	inputs := make([][]byte, len(entries))
	for i, e := range entries {
		inputs[i] = e.input
	}
	return inputs
}
