// Package atomicfile writes files, and folders of files, that are there whole or
// not at all. It also reads and writes files of JSON, and reads compressed files.
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

// Write writes data to a new file beside path, syncs it and renames it to path,
// with permissions 0644. If it fails, the file at path is unchanged and the new
// file is removed. A link stays, and the file that it names is replaced. A device or a
// pipe, as /dev/stdout, is written to: a file in its place would destroy it.
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

// WriteJSON is Write of v as JSON with indents and a line feed at its end.
func WriteJSON(path string, v any, indent string) error {
	data, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return Write(path, append(data, '\n'))
}

// maxContent bounds the content of a compressed file in bytes: a short file may stand
// for a long one.
const maxContent = 256 << 20

// Packed ends the name of a file that is compressed.
const Packed = ".gz"

// Exists reports whether there is a file at path, as it is or packed.
func Exists(path string) bool {
	_, err := os.Stat(path)
	if err != nil {
		_, err = os.Stat(path + Packed)
	}
	return err == nil
}

// Read returns the content of the file at path, or of its packed form if there is no
// other. It decompresses any file that was compressed with gzip.
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

// ReadJSON reads the JSON file at path, as Read does, into v. If the text does not fit v, the error
// names the file and want, the expected content.
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
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

// WriteFolder makes the folder dir with the given files, by their paths inside
// it. They are written to a folder beside it, which is renamed at the end. A
// folder that is there already is an error and stays as it is.
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

// publish gives a temporary folder, which its owner alone may read, the
// permissions and the name of a result.
func publish(half, dir string) error {
	if err := os.Chmod(half, 0o755); err != nil {
		return err
	}
	return os.Rename(half, dir)
}
