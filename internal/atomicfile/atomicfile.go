// Package atomicfile writes files that are there whole or not at all.
package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes data to a new file beside path, syncs it and renames it to path,
// with permissions 0644. When it fails, what stood at path still stands there
// and nothing else is left behind.
func Write(path string, data []byte) error { return WriteMode(path, data, 0o644) }

// WriteMode is Write with the given permissions.
func WriteMode(path string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	if err := fill(f, data, mode, path); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("sealab: writing %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func fill(f *os.File, data []byte, mode fs.FileMode, path string) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// syncDir makes a rename in dir survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sealab: syncing %s: %w", dir, err)
	}
	return nil
}
