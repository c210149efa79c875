package vectors

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Folder holds the committed files, relative to the module root.
const Folder = "vectors/files"

// Path returns the path of a design's file in dir.
func Path(dir, design string) string { return filepath.Join(dir, design+".json") }

// Paths returns the sorted paths of the files in dir. It returns an error if
// dir has no such files.
func Paths(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no vectors: want DESIGN.json", dir)
	}
	slices.Sort(paths)
	return paths, nil
}
