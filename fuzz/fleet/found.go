package fleet

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Crasher is an input that go-fuzz filed.
type Crasher struct {
	Input  []byte
	Output string // what the program wrote
}

// Found returns what the fleet in dir has found so far. It may run.
func Found(dir string) (inputs [][]byte, crashers []Crasher, err error) {
	files, err := readFolder(filepath.Join(Work(dir), "corpus"))
	if err != nil {
		return nil, nil, err
	}
	for _, data := range files {
		inputs = append(inputs, data)
	}
	folder := filepath.Join(Work(dir), "crashers")
	files, err = readFolder(folder)
	if err != nil {
		return nil, nil, err
	}
	for name, data := range files {
		if !isDigest(name) {
			continue // its output, or the input quoted
		}
		crashers = append(crashers, Crasher{Input: data, Output: string(files[name+".output"])})
	}
	return inputs, crashers, nil
}

// isDigest reports whether name is what go-fuzz calls an input: its SHA-1.
func isDigest(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 20
}

// readFolder returns the files of a folder by name; a folder that is not there
// yet has none.
func readFolder(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("sealab: %w", err)
		}
		files[e.Name()] = data
	}
	return files, nil
}
