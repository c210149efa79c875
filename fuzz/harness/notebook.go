package harness

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// A notebook is a file mapped into memory that holds the input that runs. What
// is written to it survives the process however that ends, and costs a copy.
//
// The file has 8 bytes that are 1 while the input runs, 8 bytes of the input's
// length, both little-endian, and the input.
type notebook struct {
	path    string
	mapped  []byte
	runs    atomic.Uint64 // inputs begun
	running atomic.Bool
}

const (
	notebookHeader = 16
	notebookSize   = 1 << 20 // to begin with
)

func newNotebook(path string) (*notebook, error) {
	n := &notebook{path: path}
	return n, n.grow(notebookSize)
}

// grow maps the file anew with at least size bytes.
func (n *notebook) grow(size int) error {
	mapped, err := mapFile(n.path, n.mapped, size)
	if err != nil {
		return fmt.Errorf("sealab: mapping %s: %w", n.path, err)
	}
	n.mapped = mapped
	return nil
}

// begin writes down that input runs now.
func (n *notebook) begin(input []byte) error {
	if need := notebookHeader + len(input); need > len(n.mapped) {
		if err := n.grow(2 * need); err != nil {
			return err
		}
	}
	copy(n.mapped[notebookHeader:], input)
	binary.LittleEndian.PutUint64(n.mapped[8:], uint64(len(input)))
	binary.LittleEndian.PutUint64(n.mapped, 1)
	n.runs.Add(1)
	n.running.Store(true)
	return nil
}

// end writes down that the input has run.
func (n *notebook) end() {
	n.running.Store(false)
	binary.LittleEndian.PutUint64(n.mapped, 0)
}

// observe runs one input that is written down while it runs.
func (n *notebook) observe(run func([]byte) error, input []byte) (*Verdict, error) {
	if err := n.begin(input); err != nil {
		return nil, err
	}
	v := observe(run, input)
	n.end()
	return v, nil
}

// An Interrupted input is one that was running when its process ended.
type Interrupted struct {
	Input     []byte
	LastWords string // what the runtime wrote as the process ended; empty when it was killed
}

// ReadInterrupted returns the inputs that were running when the processes that
// wrote to scratch ended. A notebook that cannot be read is an error that names
// it, beside the inputs that could be read.
func ReadInterrupted(scratch string) (inputs []Interrupted, err error) {
	paths, err := filepath.Glob(filepath.Join(scratch, notebookPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	var broken []string
	for _, path := range paths {
		input, running, ok := readNotebook(path)
		if !ok {
			broken = append(broken, path)
		}
		if !running {
			continue
		}
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), notebookPrefix))
		words, _ := os.ReadFile(LastWordsPath(scratch, pid)) // absent: it had none
		inputs = append(inputs, Interrupted{Input: input, LastWords: string(words)})
	}
	if len(broken) > 0 {
		err = fmt.Errorf("sealab: %s: want a notebook of an input", strings.Join(broken, ", "))
	}
	return inputs, err
}

// readNotebook returns the input of a notebook, whether it was running, and
// whether the file is a notebook. An empty file was made and not yet mapped.
func readNotebook(path string) (input []byte, running, ok bool) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, false, false
	}
	if len(file) == 0 {
		return nil, false, true
	}
	if len(file) < notebookHeader {
		return nil, false, false
	}
	length := binary.LittleEndian.Uint64(file[8:])
	if length > uint64(len(file)-notebookHeader) {
		return nil, false, false
	}
	return file[notebookHeader:][:length], binary.LittleEndian.Uint64(file) == 1, true
}
