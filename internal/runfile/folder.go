package runfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sealab/internal/atomicfile"
)

// Write makes the folder name below root with the two files of a run, whole or
// not at all, and returns its path. A folder of that name must not be there:
// results are append-only.
func Write(root, name string, bench []byte, subjects []Subject) (string, error) {
	list, err := json.MarshalIndent(subjects, "", "  ")
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	beside, err := os.MkdirTemp(root, ".run-*")
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	defer os.RemoveAll(beside) // gone already where all went well
	if err := fill(beside, bench, append(list, '\n')); err != nil {
		return "", err
	}
	dir := filepath.Join(root, name)
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("sealab: %s is there already, and results are never overwritten", dir)
	}
	if err := os.Rename(beside, dir); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return dir, nil
}

func fill(dir string, bench, subjects []byte) error {
	if err := atomicfile.Write(filepath.Join(dir, BenchFile), bench); err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, SubjectsFile), subjects); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// ReadSubjects returns the subjects of the run in dir. The error is
// fs.ErrNotExist where the folder has no list.
func ReadSubjects(dir string) ([]Subject, error) {
	path := filepath.Join(dir, SubjectsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	var subjects []Subject
	if err := json.Unmarshal(data, &subjects); err != nil {
		return nil, fmt.Errorf("sealab: %s: want a list of subjects: %w", path, err)
	}
	if len(subjects) == 0 {
		return nil, fmt.Errorf("sealab: %s: want at least one subject, there is none", path)
	}
	return subjects, nil
}
