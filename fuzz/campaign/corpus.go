package campaign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sealab/fuzz/campaign/corpus"
	"sealab/internal/atomicfile"
)

var errName = errors.New("its contents do not have the digest that it is called after")

// An entry is one input of a corpus.
type entry struct {
	path  string
	input []byte
}

// readCorpus returns the inputs in dir. What is no whole corpus file is left
// out, with its path and the reason in broken.
func readCorpus(dir string) (entries []entry, broken map[string]error, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sealab: %w", err)
	}
	broken = map[string]error{}
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		if strings.HasPrefix(file.Name(), ".") {
			continue // being written
		}
		input, err := readEntry(path)
		if err != nil {
			broken[path] = err
			continue
		}
		entries = append(entries, entry{path, input})
	}
	return entries, broken, nil
}

func readEntry(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if corpus.Name(data) != filepath.Base(path) {
		return nil, errName
	}
	return corpus.Unmarshal(data)
}

// addToCorpus writes an input to the corpus in dir and reports whether it is new.
func addToCorpus(dir string, input []byte) (bool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("sealab: %w", err)
	}
	data := corpus.Marshal(input)
	path := filepath.Join(dir, corpus.Name(data))
	if _, err := os.Stat(path); err == nil {
		return false, nil
	}
	return true, atomicfile.Write(path, data)
}

// mendCorpus moves damaged files of a target's corpus out of the way.
func (f folder) mendCorpus(t Target) (notices []string, err error) {
	_, broken, err := readCorpus(f.corpus(t))
	if err != nil {
		return nil, err
	}
	for path, reason := range broken {
		notice, err := f.moveAway(path, reason)
		if err != nil {
			return nil, err
		}
		notices = append(notices, notice)
	}
	return notices, nil
}

// addCommitted adds the inputs that are committed beside the fuzz function to a
// target's corpus.
func (f folder) addCommitted(t Target, src source) error {
	committed := filepath.Join(src.Dir, "testdata", "fuzz", t.Native)
	files, err := os.ReadDir(committed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, file := range files {
		path := filepath.Join(committed, file.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
		input, err := corpus.Unmarshal(data)
		if err != nil {
			return fmt.Errorf("sealab: %s: %w", path, err)
		}
		if _, err := addToCorpus(f.corpus(t), input); err != nil {
			return err
		}
	}
	return nil
}
