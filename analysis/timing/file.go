package timing

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sealab/internal/atomicfile"
)

// judgementFile is the name of a judgement beside the samples that it is of.
const judgementFile = "judgement.json"

// Write writes the judgement into the run's folder. It follows from the samples,
// so that an older one is replaced.
func (j *Judgement) Write(dir string) error {
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	return atomicfile.Write(filepath.Join(dir, judgementFile), append(text, '\n'))
}

// Read returns the judgement in a run's folder.
func Read(dir string) (*Judgement, error) {
	path := filepath.Join(dir, judgementFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w: run sealab leak judge first", err)
	}
	j := new(Judgement)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("sealab: %s: want a judgement: %w", path, err)
	}
	return j, nil
}
