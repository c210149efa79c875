// Package atomicfile writes files, and folders of files, that are there whole or
// not at all.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write writes data to a new file beside path, syncs it and renames it to path,
// with permissions 0644. When it fails, what stood at path still stands there
// and nothing else is left behind.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	if err := fill(f, data, path); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("sealab: writing %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func fill(f *os.File, data []byte, path string) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
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
