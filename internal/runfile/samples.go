package runfile

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
	"strings"

	"sealab/internal/atomicfile"
)

// SamplesExtension is the extension of a file of samples.
const SamplesExtension = ".samples"

// A Probe compares the times that a subject takes for two classes of input.
type Probe struct {
	Subject string `json:"subject,omitempty"` // a design's name, or a control's
	Pair    string `json:"pair,omitempty"`    // for example "tag-ends"
	A       string `json:"a,omitempty"`       // description of class A
	B       string `json:"b,omitempty"`
	// Tells is the secret that a time difference reveals.
	Tells string `json:"tells,omitempty"`
	// Property is the guarantee that a time difference refutes. It is empty if a difference reveals no
	// secret and is only an observation.
	Property string `json:"property,omitempty"`
	// Channel is how the subject was reached: "process" or "http".
	Channel string      `json:"channel,omitempty"`
	Expect  Expectation `json:"expect,omitempty"`
	// Added is the time in nanoseconds by which a calibrated control slows class B, measured beforehand.
	// It is 0 for other subjects.
	Added float64 `json:"added_ns,omitempty"`
}

// Name returns the prefix of the names of the probe's files.
func (p Probe) Name() string { return p.SubjectName() + "." + strings.Map(fileRune, p.Pair) }

// SubjectName returns the prefix of the names of all files of the subject.
func (p Probe) SubjectName() string { return strings.Map(fileRune, p.Subject) }

func fileRune(r rune) rune {
	if r == '/' || r == ' ' {
		return '-'
	}
	return r
}

// A Header is the probe and the parameters of a file.
type Header struct {
	Probe
	Pass   int `json:"pass"`   // 1, 2, ...: independent runs of the same probe
	Blocks int `json:"blocks"` // number of blocks in the file
	// Ops is the number of operations in one sample.
	Ops int `json:"ops"`
	// Cluster is the number of consecutive blocks that share one set of keys and objects in memory. 0
	// means that all blocks do.
	Cluster int               `json:"cluster,omitempty"`
	ClockNs float64           `json:"clock_ns"` // cost of reading the clock
	Seed    uint64            `json:"seed"`
	Stamp   map[string]string `json:"stamp,omitempty"` // commit, toolchain, processor, ...
}

// FileName returns the name of the probe's file of one pass.
func (h Header) FileName() string { return fmt.Sprintf("%s.%d%s", h.Name(), h.Pass, SamplesExtension) }

// A Block is one measurement of each class, in nanoseconds.
type Block struct {
	A, B   uint32
	BFirst bool
}

// Samples are the content of a file: one probe in one pass.
type Samples struct {
	Header
	Data []Block
}

// ReadSamples returns the samples in the file at path. Its errors name the file, the position and the
// expected content.
func ReadSamples(path string) (*Samples, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := ParseSamples(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// ReadSampleFiles returns all samples in dir, sorted by subject, pair and pass. It fails if there is no
// file of samples.
func ReadSampleFiles(dir string) ([]*Samples, error) {
	paths, err := filesIn(dir, SamplesExtension)
	if err != nil {
		return nil, fmt.Errorf("%w: run sealab leak probe first", err)
	}
	files := make([]*Samples, len(paths))
	for i, path := range paths {
		if files[i], err = ReadSamples(path); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(files, func(a, b *Samples) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Pair, b.Pair), cmp.Compare(a.Pass, b.Pass))
	})
	return files, nil
}

// filesIn returns the sorted paths of the files in dir with an extension. It fails if there are none.
func filesIn(dir, extension string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+extension))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: want files *%s, there is none", dir, extension)
	}
	return paths, err
}

// ParseSamples parses the content of a file of samples.
func ParseSamples(data []byte) (*Samples, error) {
	rest, ok := bytes.CutPrefix(data, []byte(samplesMagic))
	if !ok {
		return nil, fmt.Errorf("want %q at the beginning: this is not a file of samples", samplesMagic)
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
	f := new(Samples)
	if err := json.Unmarshal(rest[:n], &f.Header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return f, f.readBlocks(rest[n:])
}

func (f *Samples) readBlocks(text []byte) error {
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

// A file of samples holds one probe: the times of two classes of input, in blocks of one measurement of
// each class. Its layout, with a header of h bytes and little-endian integers, is
//
//	"sealab samples 1\n" || h[4] || header[h] || blocks || SHA-256[32] of all before
//
// The header is a JSON object, see [Header]. A block is two unsigned varints
//
//	2*a + o    a: time of class A in nanoseconds; o: 1 if B was measured first
//	b          time of class B in nanoseconds
//
// in the order of measurement. The checksum detects damage, not forgery.
const samplesMagic = "sealab samples 1\n"

// WriteSamples writes f into dir under its file name, atomically.
func WriteSamples(dir string, f *Samples) error {
	text, err := EncodeSamples(f)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, f.FileName()), text)
}

// EncodeSamples returns the content of f's file.
func EncodeSamples(f *Samples) ([]byte, error) {
	if f.Blocks != len(f.Data) || len(f.Data) == 0 {
		return nil, fmt.Errorf("the header of %s announces %d blocks, and there are %d", f.FileName(), f.Blocks, len(f.Data))
	}
	header, err := json.Marshal(f.Header)
	if err != nil {
		return nil, err
	}
	dst := []byte(samplesMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(header)))
	dst = append(dst, header...)
	for _, b := range f.Data {
		dst = binary.AppendUvarint(dst, uint64(b.A)<<1|order(b.BFirst))
		dst = binary.AppendUvarint(dst, uint64(b.B))
	}
	sum := sha256.Sum256(dst)
	return append(dst, sum[:]...), nil
}

func order(bFirst bool) uint64 {
	if bFirst {
		return 1
	}
	return 0
}
