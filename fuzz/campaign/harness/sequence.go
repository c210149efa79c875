package harness

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Sequence runs inputs in order and returns what the last one returns. Those
// before it are there for what they leave in memory: whether they hold, and
// whether they panic, is nothing to it.
func Sequence(run func([]byte) error, inputs ...[]byte) error {
	last := len(inputs) - 1
	for _, input := range inputs[:last] {
		observe(run, input)
	}
	return run(inputs[last])
}

// ReadSequence returns the files in dir, in the order of their names; none where
// there is no folder.
func ReadSequence(dir string) ([][]byte, error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	var inputs [][]byte
	for _, file := range files {
		input, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			return nil, fmt.Errorf("sealab: %w", err)
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// encodeBefore and DecodeBefore are the contents of BeforeFile: a [][]byte of
// encoding/gob.
func encodeBefore(inputs [][]byte) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(inputs); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeBefore returns the inputs of a BeforeFile, the first first.
func DecodeBefore(file []byte) (inputs [][]byte, err error) {
	if err := gob.NewDecoder(bytes.NewReader(file)).Decode(&inputs); err != nil {
		return nil, fmt.Errorf("sealab: %w; want a list of inputs, of encoding/gob", err)
	}
	return inputs, nil
}
