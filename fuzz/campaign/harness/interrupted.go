package harness

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// An Interrupted input is one that was running when its process ended.
type Interrupted struct {
	Input     []byte
	Before    [][]byte // what the process ran before it, as far as is known, the first first
	LastWords string   // what the runtime wrote as the process ended; empty when it was killed
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
		page, ok := readNotebook(path)
		if !ok {
			broken = append(broken, path)
		}
		if !page.running {
			continue
		}
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(path), notebookPrefix))
		words, _ := os.ReadFile(LastWordsPath(scratch, pid)) // absent: it had none
		last := len(page.inputs) - 1
		inputs = append(inputs, Interrupted{Input: page.inputs[last], Before: page.inputs[:last], LastWords: string(words)})
	}
	if len(broken) > 0 {
		err = fmt.Errorf("sealab: %s: want a notebook of an input", strings.Join(broken, ", "))
	}
	return inputs, err
}

// A page is what a notebook holds.
type page struct {
	inputs  [][]byte // in the order in which they ran
	running bool     // the last one runs: then there is one
}

// readNotebook reads the notebook at path, and reports whether it is one. An
// empty file was made and not yet mapped.
func readNotebook(path string) (page, bool) {
	file, err := os.ReadFile(path)
	if err != nil {
		return page{}, false
	}
	if len(file) == 0 {
		return page{}, true
	}
	return parseNotebook(file)
}

// parseNotebook reads the records from the last to the first that is whole:
// what was written before is overwritten.
func parseNotebook(file []byte) (p page, ok bool) {
	if len(file) <= notebookHeader {
		return p, false
	}
	ring := file[notebookHeader:]
	end := binary.LittleEndian.Uint64(file[8:])
	left := min(end, uint64(len(ring)))
	for left >= recordTrailer {
		length := uint64(binary.LittleEndian.Uint32(read(ring, end, recordTrailer)))
		if length > left-recordTrailer {
			break
		}
		p.inputs = append(p.inputs, read(ring, end-recordTrailer, length))
		end, left = end-recordTrailer-length, left-recordTrailer-length
	}
	slices.Reverse(p.inputs)
	p.running = binary.LittleEndian.Uint64(file) == 1
	if p.running && len(p.inputs) == 0 {
		return page{}, false
	}
	return p, true
}

// read returns a copy of the size bytes of the ring before the end.
func read(ring []byte, end, size uint64) []byte {
	data := make([]byte, size)
	at := (end - size) % uint64(len(ring))
	if copied := copy(data, ring[at:]); copied < len(data) {
		copy(data[copied:], ring)
	}
	return data
}
