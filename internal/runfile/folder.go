package runfile

import (
	"encoding/json"
	"fmt"
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
	dir := filepath.Join(root, name)
	return dir, atomicfile.WriteFolder(dir, map[string][]byte{BenchFile: bench, SubjectsFile: append(list, '\n')})
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
