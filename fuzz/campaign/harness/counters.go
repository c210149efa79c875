package harness

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"runtime/coverage"
)

// A feature is one place of the code together with how often it ran, roughly:
// the power of two. Inputs that only differ in features are worth keeping both.
type feature struct {
	pkg, function, counter uint32
	times                  int
}

// features runs one input and returns what it covers. The program must have been
// built with -cover -covermode=atomic, and must not be a test: there the counters
// cannot be read before the end.
func features(run func() error) ([]feature, error) {
	if err := coverage.ClearCounters(); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if err := run(); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	return parseCounters(file.Bytes())
}

// The counter file of internal/coverage in Go 1.20 and later: a header of 32
// bytes, a segment header of 16, two tables with their lengths in it, padding
// to four bytes, and then, per function that ran, the number of its counters,
// package, function and the counters, as LEB128 or as 32-bit numbers.
const (
	countersHeader  = 32
	countersVersion = 1
	segmentHeader   = 16
	flavorRaw       = 1
	flavorLEB128    = 2
)

var (
	countersMagic = []byte{0, 'c', 'w', 'm'}
	errCounters   = errors.New("sealab: the coverage counters are in no format that is known here")
)

func parseCounters(file []byte) ([]feature, error) {
	if len(file) < countersHeader+segmentHeader || !bytes.HasPrefix(file, countersMagic) ||
		binary.LittleEndian.Uint32(file[4:]) != countersVersion || file[25] != 0 {
		return nil, errCounters
	}
	r := counterReader{file: file, flavor: file[24]}
	segment := file[countersHeader:]
	functions := binary.LittleEndian.Uint64(segment)
	tables := uint64(binary.LittleEndian.Uint32(segment[8:])) + uint64(binary.LittleEndian.Uint32(segment[12:]))
	if tables > uint64(len(file)) {
		return nil, errCounters
	}
	r.at = (countersHeader + segmentHeader + int(tables) + 3) &^ 3
	var all []feature
	for range functions {
		counters := r.number()
		f := feature{pkg: r.number(), function: r.number()}
		for i := range counters {
			if n := r.number(); n > 0 {
				f.counter, f.times = i, bits.Len32(n)
				all = append(all, f)
			}
			if r.short {
				return nil, errCounters
			}
		}
	}
	return all, nil
}

type counterReader struct {
	file   []byte
	at     int
	flavor byte
	short  bool // the file ended early
}

func (r *counterReader) number() uint32 {
	rest := r.file[min(r.at, len(r.file)):]
	switch {
	case r.flavor == flavorRaw && len(rest) >= 4:
		r.at += 4
		return binary.LittleEndian.Uint32(rest)
	case r.flavor == flavorLEB128:
		if n, size := binary.Uvarint(rest); size > 0 {
			r.at += size
			return uint32(n)
		}
	}
	r.short = true
	return 0
}
