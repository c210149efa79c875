package corpus

import (
	"archive/zip"
	"bytes"
	"crypto/sha1" //nolint:gosec // a name, as go-fuzz and libFuzzer give it
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"sealab/internal/atomicfile"
)

// A Format is a way to keep many inputs.
type Format string

// The formats.
const (
	Native Format = "native" // a folder of go test -fuzz
	Raw    Format = "raw"    // a folder of bare inputs: go-fuzz, libFuzzer
	Zip    Format = "zip"    // an archive of bare inputs: the seed corpus of OSS-Fuzz
)

// ParseFormat returns the format called name.
func ParseFormat(name string) (Format, error) {
	for _, f := range []Format{Native, Raw, Zip} {
		if string(f) == name {
			return f, nil
		}
	}
	return "", fmt.Errorf("sealab: %q is no format of a corpus; want %s, %s or %s", name, Native, Raw, Zip)
}

// maxInput is the longest input in an archive, in bytes, against archives that
// are small and unpack to everything.
const maxInput = 64 << 20

// Read returns the inputs at path, each once, in the order of their bytes. A
// corpus without an input is an error, and so is a file that is no input. In a
// raw folder files with an extension are left out: go-fuzz keeps the output of a
// crasher beside it.
func (f Format) Read(path string) ([][]byte, error) {
	read := f.readFolder
	if f == Zip {
		read = readZip
	}
	inputs, err := read(path)
	if err != nil {
		return nil, err
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("sealab: %s holds no inputs", path)
	}
	slices.SortFunc(inputs, bytes.Compare)
	return slices.CompactFunc(inputs, bytes.Equal), nil
}

func (f Format) readFolder(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	var inputs [][]byte
	for _, e := range entries {
		if e.IsDir() || f == Raw && filepath.Ext(e.Name()) != "" {
			continue
		}
		path := filepath.Join(dir, e.Name())
		input, err := os.ReadFile(path)
		if err == nil && f == Native {
			input, err = Unmarshal(input)
		}
		if err != nil {
			return nil, fmt.Errorf("sealab: %s: %w", path, err)
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

func readZip(path string) ([][]byte, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	defer archive.Close()
	var inputs [][]byte
	for _, file := range archive.File {
		if file.FileInfo().IsDir() {
			continue
		}
		input, err := readMember(file)
		if err != nil {
			return nil, fmt.Errorf("sealab: %s: %s: %w", path, file.Name, err)
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

func readMember(file *zip.File) ([]byte, error) {
	r, err := file.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	input, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(input) > maxInput {
		err = fmt.Errorf("longer than %d bytes", maxInput)
	}
	return input, err
}

// Write writes inputs to path: into a folder beside what is there, or as an
// archive in the place of what is there. Equal inputs give equal archives.
func (f Format) Write(path string, inputs [][]byte) error {
	if f == Zip {
		return writeZip(path, inputs)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, input := range inputs {
		name, file := rawName(input), input
		if f == Native {
			file = Marshal(input)
			name = Name(file)
		}
		if err := atomicfile.Write(filepath.Join(path, name), file); err != nil {
			return err
		}
	}
	return nil
}

func writeZip(path string, inputs [][]byte) error {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, input := range inputs {
		w, err := archive.Create(rawName(input))
		if err == nil {
			_, err = w.Write(input)
		}
		if err != nil {
			return fmt.Errorf("sealab: %s: %w", path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("sealab: %s: %w", path, err)
	}
	return atomicfile.Write(path, out.Bytes())
}

// rawName is what go-fuzz and libFuzzer call an input: its SHA-1.
func rawName(input []byte) string {
	sum := sha1.Sum(input)
	return hex.EncodeToString(sum[:])
}
