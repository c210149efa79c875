// Package overlay writes what the flag -overlay of the go command takes: a build
// in which other files stand in the place of some, without a change to any.
package overlay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Write writes the sources, by the path of the file whose place each takes, and
// the list of them to dir, and returns the path of the list. A path at which there
// is no file adds one.
func Write(dir string, sources map[string][]byte) (string, error) {
	list := struct{ Replace map[string]string }{map[string]string{}}
	for path, source := range sources {
		at := filepath.Join(dir, fmt.Sprintf("%d.go", len(list.Replace)))
		if err := os.WriteFile(at, source, 0o644); err != nil {
			return "", fmt.Errorf("sealab: %w", err)
		}
		list.Replace[path] = at
	}
	data, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return "", fmt.Errorf("sealab: %w", err)
	}
	return path, nil
}
