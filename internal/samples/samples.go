// Package samples is the form in which timing samples lie in files: package
// bench/timing writes them and package analysis/timing judges them, and neither
// knows the other.
//
// A file holds one probe: the time of two classes of input, in blocks that hold
// each class once. Its layout, with a header of h bytes and integers in
// little-endian order:
//
//	"sealab samples 1\n" || h[4] || header[h] || blocks || SHA-256[32] of all before
//
// The header is a JSON object, see [Header]. A block is two unsigned varints
//
//	2*a + o    a: time of class A in nanoseconds; o: 1 where B was measured first
//	b          time of class B in nanoseconds
//
// in the order in which they were measured, which is never changed.
//
// The checksum finds damage, not forgery.
package samples

import (
	"fmt"
	"strings"
)

// Extension ends the name of a file of samples.
const Extension = ".samples"

// An Expectation is what a control must turn out to be.
type Expectation string

// The expectations. A design under test has none.
const (
	Open  Expectation = ""
	Leaks Expectation = "leaks"
	Clean Expectation = "clean"
)

// A Probe is one question to a subject: do two classes of input take the same
// time?
type Probe struct {
	Subject string `json:"subject"` // a design's name, or a control's
	Pair    string `json:"pair"`    // for example "tag-ends"
	A       string `json:"a"`       // what class A is
	B       string `json:"b"`
	// Tells is what a difference gives away.
	Tells string `json:"tells"`
	// Property is the guarantee that a difference refutes; empty where it shows
	// no secret and is an observation.
	Property string `json:"property,omitempty"`
	// Channel is how the subject was reached: "process" or "http".
	Channel string      `json:"channel"`
	Expect  Expectation `json:"expect,omitempty"`
	// Added is the time in nanoseconds that a control of known size adds to B,
	// as the machine's clock had it beforehand; 0 where there is no such size.
	Added float64 `json:"added_ns,omitempty"`
}

// Name returns the name that the probe's files and pictures begin with.
func (p Probe) Name() string {
	return strings.Map(fileRune, p.Subject+"."+p.Pair)
}

func fileRune(r rune) rune {
	if r == '/' || r == ' ' {
		return '-'
	}
	return r
}

// A Header says what was measured, and how.
type Header struct {
	Probe
	Pass   int `json:"pass"`   // 1, 2, ...: independent runs of the same probe
	Blocks int `json:"blocks"` // number of blocks in the file
	// Ops is the number of operations in one sample.
	Ops int `json:"ops"`
	// Cluster is the number of consecutive blocks that share one set of keys
	// and objects in memory; 0 says that all do.
	Cluster int               `json:"cluster,omitempty"`
	ClockNs float64           `json:"clock_ns"` // cost of reading the clock
	Seed    uint64            `json:"seed"`
	Stamp   map[string]string `json:"stamp"` // commit, toolchain, processor, ...
}

// FileName returns the name of the probe's file of one pass.
func (h Header) FileName() string { return fmt.Sprintf("%s.%d%s", h.Name(), h.Pass, Extension) }

// A Block is one measurement of each class, in nanoseconds.
type Block struct {
	A, B   uint32
	BFirst bool
}

// A File is one probe's samples.
type File struct {
	Header
	Data []Block
}
