package vectors

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Folder is where the committed files lie, from the root of the module.
const Folder = "vectors/files"

// Path returns the path of a design's file in dir.
func Path(dir, design string) string { return filepath.Join(dir, design+".json") }

// Paths returns the files in dir, in order. That there are none is an error.
func Paths(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("sealab: %s holds no vectors: want DESIGN.json", dir)
	}
	slices.Sort(paths)
	return paths, nil
}
