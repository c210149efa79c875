package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"runtime/coverage"
)

// A Feature is a place in the code together with its number of executions, rounded to a power
// of two.
type Feature struct {
	pkg, function, counter uint32
	log2                   int
}

// Features calls run and returns the features that it covered. The program must be built with
// -cover -covermode=atomic. It must not be a test, because a test cannot read its counters
// before it ends. If the format of the counters is unknown, the result is one feature, a digest
// of all counters.
func Features(run func() error) ([]Feature, error) {
	if err := coverage.ClearCounters(); err != nil {
		return nil, fmt.Errorf("clearing the coverage counters: %w", err)
	}
	if err := run(); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		return nil, fmt.Errorf("reading the coverage counters: %w", err)
	}
	if all, err := parseCounters(file.Bytes()); err == nil {
		return all, nil
	}
	h := fnv.New64a()
	h.Write(file.Bytes()) //nolint:errcheck // documented never to fail
	digest := h.Sum64()
	return []Feature{{pkg: uint32(digest >> 32), function: uint32(digest)}}, nil
}

// The format of counter files of internal/coverage since Go 1.20. It consists of a 32-byte
// header, a 16-byte segment header, two tables whose lengths are in the segment header, padding
// to four bytes, and one record per function that ran. A record has the number of counters, the
// package, the function, and the counters, all encoded as LEB128 or as 32-bit numbers.
const (
	countersHeader  = 32
	countersVersion = 1
	segmentHeader   = 16
	flavorRaw       = 1
	flavorLEB128    = 2
)

var (
	countersMagic = []byte{0, 'c', 'w', 'm'}
	errCounters   = errors.New("unknown format of coverage counters")
)

func parseCounters(file []byte) ([]Feature, error) {
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
	var all []Feature
	for range functions {
		n := r.number()
		f := Feature{pkg: r.number(), function: r.number()}
		for i := range n {
			if times := r.number(); times > 0 {
				f.counter, f.log2 = i, bits.Len32(times)
				all = append(all, f)
			}
			if r.short {
				break
			}
		}
		if r.short {
			return nil, errCounters
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
