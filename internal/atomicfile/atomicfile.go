// Package atomicfile writes files and folders atomically. It also reads and writes JSON files, and reads
// compressed files.
package atomicfile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes data to a new file beside path, syncs it and renames it to path, with permissions 0644. If
// it fails, the file at path is unchanged and the new file is removed. If path is a symbolic link, Write
// replaces the file that it points to. If path is a device or pipe, such as /dev/stdout, Write writes to
// it directly, because a rename would replace it.
func Write(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeTo(path, data)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if named, err := filepath.EvalSymlinks(path); err == nil {
			path = named
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	if err := fill(f, data, path); err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

func writeTo(device string, data []byte) error {
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// WriteJSON writes v as indented JSON with a final line feed, as Write does.
func WriteJSON(path string, v any, indent string) error {
	data, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return Write(path, append(data, '\n'))
}

// maxContent is the maximum decompressed size of a file in bytes. It stops decompression bombs.
const maxContent = 256 << 20

// Packed is the extension of a compressed file.
const Packed = ".gz"

// Exists reports whether there is a file at path, compressed or not.
func Exists(path string) bool {
	_, err := os.Stat(path)
	if err != nil {
		_, err = os.Stat(path + Packed)
	}
	return err == nil
}

// Read returns the content of the file at path, or of its compressed form if path does not exist. It
// decompresses any file compressed with gzip.
func Read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if packed, missing := os.ReadFile(path + Packed); missing == nil {
			data, err = packed, nil
		}
	}
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	content, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(content) > maxContent {
		return nil, fmt.Errorf("%s: want at most %d bytes of content", path, maxContent)
	}
	return content, nil
}

// ReadJSON reads the JSON file at path into v, as Read does. If the text does not fit v, the error names
// the file and want, the expected content.
func ReadJSON(path string, v any, want string) error {
	data, err := Read(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: want %s: %w", path, want, err)
	}
	return nil
}

func fill(f *os.File, data []byte, path string) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// syncDir makes a rename in dir survive a system crash.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

// WriteFolder makes the folder dir with the given files, whose keys are paths inside it. It writes them to
// a temporary folder beside dir and renames that at the end. If dir exists, WriteFolder fails and leaves
// it unchanged.
func WriteFolder(dir string, files map[string][]byte) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already, and results are never overwritten", dir)
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	half, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half) // gone already if it was renamed
	for name, data := range files {
		path := filepath.Join(half, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := Write(path, data); err != nil {
			return err
		}
	}
	if err := publish(half, dir); err != nil {
		return fmt.Errorf("writing %s: %w", dir, err)
	}
	return syncDir(parent)
}

// publish gives a temporary folder the permissions and the name of a result.
func publish(half, dir string) error {
	if err := os.Chmod(half, 0o755); err != nil {
		return err
	}
	return os.Rename(half, dir)
}

// RequireWritable returns an error if no folder can be created at dir. Commands call it before a run of
// minutes whose results go there. It removes its files. An empty dir means that there are no results.
func RequireWritable(dir string) error {
	if dir == "" {
		return nil
	}
	there := filepath.Clean(dir)
	_, err := os.Stat(there)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(there) != there {
		there = filepath.Dir(there)
		_, err = os.Stat(there)
	}
	trial := ""
	if err == nil {
		trial, err = os.MkdirTemp(there, ".trial-*")
	}
	if err != nil {
		return fmt.Errorf("results cannot be written to %s: %w", dir, err)
	}
	return os.Remove(trial)
}
