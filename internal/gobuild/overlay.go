package gobuild

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Overlay writes the argument of the go command's flag -overlay: a list of
// sources that replace files without changing them. The keys of sources are the
// paths to replace; a path without a file adds one. Overlay writes the sources
// and the list to dir and returns the path of the list.
func Overlay(dir string, sources map[string][]byte) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for path, source := range sources {
		at := filepath.Join(dir, fmt.Sprintf("%d.go", len(list.Replace)))
		if err := os.WriteFile(at, source, 0o644); err != nil {
			return "", err
		}
		list.Replace[path] = at
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o644)
}
