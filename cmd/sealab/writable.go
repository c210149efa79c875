package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// requireWritable fails where no folder can be made at dir, so that a run of
// minutes does not end with results that have no place. It leaves nothing behind.
func requireWritable(dir string) error {
	there := filepath.Clean(dir)
	for {
		_, err := os.Stat(there)
		if err == nil {
			break
		}
		if parent := filepath.Dir(there); errors.Is(err, fs.ErrNotExist) && parent != there {
			there = parent
			continue
		}
		return fmt.Errorf("sealab: results cannot be written to %s: %w", dir, err)
	}
	trial, err := os.MkdirTemp(there, ".trial-*")
	if err != nil {
		return fmt.Errorf("sealab: results cannot be written to %s: %w", dir, err)
	}
	return os.Remove(trial)
}
