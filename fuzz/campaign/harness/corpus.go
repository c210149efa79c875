package harness

import (
	"archive/zip"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"sealab/internal/atomicfile"
)

const (
	corpusHeader = "go test fuzz v1\n"
	corpusPrefix = "[]byte("
	corpusSuffix = ")"
)

var errFormat = errors.New("want \"go test fuzz v1\" and one line with a []byte")

// Marshal returns the contents of the native corpus file for input.
func Marshal(input []byte) []byte {
	return fmt.Appendf(nil, "%s%s%q%s\n", corpusHeader, corpusPrefix, input, corpusSuffix)
}

// Unmarshal returns the input in a native corpus file.
func Unmarshal(file []byte) ([]byte, error) {
	line, ok := bytes.CutPrefix(file, []byte(corpusHeader))
	line = bytes.TrimSuffix(line, []byte("\n"))
	line, opened := bytes.CutPrefix(line, []byte(corpusPrefix))
	line, closed := bytes.CutSuffix(line, []byte(corpusSuffix))
	if !ok || !opened || !closed {
		return nil, errFormat
	}
	input, err := strconv.Unquote(string(line))
	if err != nil {
		return nil, errFormat
	}
	return []byte(input), nil
}

// Name returns the name of a native file with the given contents: the first 16
// hexadecimal digits of their SHA-256.
func Name(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:8])
}

// A Format is a storage format for corpora.
type Format string

// The formats of a corpus.
const (
	Native Format = "native" // a corpus folder of go test -fuzz
	Raw    Format = "raw"    // a folder of bare inputs: go-fuzz, libFuzzer
	Zip    Format = "zip"    // an archive of bare inputs: the seed corpus of OSS-Fuzz
)

// ParseFormat returns the format with the given name.
func ParseFormat(name string) (Format, error) {
	for _, f := range []Format{Native, Raw, Zip} {
		if string(f) == name {
			return f, nil
		}
	}
	return "", fmt.Errorf("unknown corpus format %q; want %s, %s or %s", name, Native, Raw, Zip)
}

// maxInput limits the length in bytes of an input in an archive, because a small archive may
// decompress to much data.
const maxInput = 64 << 20

// Read returns the inputs at path, without duplicates, sorted. An empty corpus is an error, and
// so is a file that is not an input. In a raw folder, files with an extension are skipped,
// because go-fuzz keeps the output of crashers in such files.
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
		return nil, fmt.Errorf("%s holds no inputs", path)
	}
	slices.SortFunc(inputs, bytes.Compare)
	return slices.CompactFunc(inputs, bytes.Equal), nil
}

func (f Format) readFolder(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
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
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

func readZip(path string) ([][]byte, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer archive.Close()
	var inputs [][]byte
	for _, file := range archive.File {
		if file.FileInfo().IsDir() {
			continue
		}
		input, err := readMember(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, file.Name, err)
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

// Write adds inputs to the folder at path, or replaces the archive there. Archives are
// deterministic.
func (f Format) Write(path string, inputs [][]byte) error {
	if f == Zip {
		return writeZip(path, inputs)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
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
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return atomicfile.Write(path, out.Bytes())
}

// rawName returns the name of an input in go-fuzz and libFuzzer, which is its SHA-1.
func rawName(input []byte) string {
	sum := sha1.Sum(input)
	return hex.EncodeToString(sum[:])
}

// A Crasher is a failing input of go-fuzz.
type Crasher struct {
	Input  []byte
	Output string // output of the program
}

// ReadWorkdir returns the findings in a go-fuzz work folder, which may be in use. A missing
// folder is empty.
func ReadWorkdir(dir string) (inputs [][]byte, crashers []Crasher, err error) {
	if inputs, err = readInputs(filepath.Join(dir, "corpus")); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "crashers"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		if !isDigest(e.Name()) {
			continue // the output of a crasher, or its quoted input
		}
		path := filepath.Join(dir, "crashers", e.Name())
		input, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		output, _ := os.ReadFile(path + ".output") // written after the input
		crashers = append(crashers, Crasher{input, string(output)})
	}
	return inputs, crashers, nil
}

// isDigest reports whether name is a SHA-1, the name of an input in go-fuzz.
func isDigest(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == sha1.Size
}
