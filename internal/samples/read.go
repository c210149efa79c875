package samples

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// Read returns the samples in the file at path. Its errors name the file, the
// place in it and what was expected there.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	f, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	return f, nil
}

// ReadFolder returns all samples in dir, sorted by subject, pair and pass. None
// at all is an error.
func ReadFolder(dir string) ([]*File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+Extension))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("sealab: %s: want files *%s, there is none: run sealab leak probe first", dir, Extension)
	}
	files := make([]*File, len(paths))
	for i, path := range paths {
		if files[i], err = Read(path); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Pair, b.Pair), cmp.Compare(a.Pass, b.Pass))
	})
	return files, nil
}

// Parse returns the samples in the bytes of a file.
func Parse(data []byte) (*File, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("want %q at the beginning: this is not a file of samples", magic)
	}
	if len(rest) < 4+sha256.Size {
		return nil, fmt.Errorf("it ends after %d bytes, within the header", len(data))
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("the checksum at the end does not fit: the file is damaged or cut short")
	}
	rest = rest[:len(rest)-sha256.Size]
	n := int(binary.LittleEndian.Uint32(rest))
	if rest = rest[4:]; n > len(rest) {
		return nil, fmt.Errorf("want a header of %d bytes, there are %d", n, len(rest))
	}
	f := new(File)
	if err := json.Unmarshal(rest[:n], &f.Header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return f, f.readBlocks(rest[n:])
}

func (f *File) readBlocks(text []byte) error {
	if f.Blocks < 1 || f.Ops < 1 || f.Cluster < 0 || f.Blocks > len(text)/2 {
		return fmt.Errorf("header: want at least 1 block and 1 operation a sample and no cluster below 0, got %d, %d and %d in %d bytes",
			f.Blocks, f.Ops, f.Cluster, len(text))
	}
	f.Data = make([]Block, f.Blocks)
	for i := range f.Data {
		a, n := binary.Uvarint(text)
		b, m := binary.Uvarint(text[max(n, 0):])
		if n <= 0 || m <= 0 || a>>1 > math.MaxUint32 || b > math.MaxUint32 {
			return fmt.Errorf("block %d of %d is cut short or too large", i+1, f.Blocks)
		}
		f.Data[i] = Block{A: uint32(a >> 1), B: uint32(b), BFirst: a&1 == 1}
		text = text[n+m:]
	}
	if len(text) != 0 {
		return fmt.Errorf("%d bytes follow the last of %d blocks", len(text), f.Blocks)
	}
	return nil
}
