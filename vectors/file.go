// Package vectors implements the format sealab-vectors/1. A file states the
// tokens that one design must accept and the tokens that it must refuse. It
// also states the stage of each refusal. An implementation in any language can
// read it.
//
// A file is JSON (RFC 8259) with one test per line. README.md beside this
// package explains every member. schema.json (JSON Schema 2020-12) rejects a
// file if a member is unknown or missing. Bytes are lower-case hex, times are
// decimal strings of Unix seconds, and numbers have no fraction.
//
// The committed files are in the folder files, one per design of the catalog.
// Only the generator (package generate) changes them. This package reads,
// writes and validates files, and exports them in the forms that other test suites
// read: JSON Lines, groups in the manner of Wycheproof, and one archive with
// everything that a consumer needs. It neither makes nor judges tokens.
package vectors

import (
	"fmt"
	"path/filepath"
	"slices"

	"sealab/codecs"
)

// Format names the format and its version.
const Format = "sealab-vectors/1"

// License is the SPDX license expression of every file of vectors.
const License = "CC0-1.0 OR 0BSD"

// A File holds the vectors of one design.
type File struct {
	Format      string          `json:"format"`
	Design      string          `json:"design"`
	Kind        codecs.Kind     `json:"kind"`
	Doc         string          `json:"doc"`
	Spec        string          `json:"spec"` // the specification that the design implements
	Generator   string          `json:"generator"`
	Version     int             `json:"version"` // of the generator
	License     string          `json:"license"`
	Prefix      string          `json:"prefix"`
	SeedSize    int             `json:"seed_size"` // random bytes per token; 0 if deterministic
	Keys        map[string]Hex  `json:"keys"`      // secrets, by the names that tests use
	Notes       map[string]Note `json:"notes"`     // one for each flag
	Rings       []Ring          `json:"rings"`
	NumberTests int             `json:"number_of_tests"`
	Tests       []Test          `json:"-"` // one per line, see Encode
}

// A Note explains a flag: the consequence if an implementation fails its tests.
type Note struct {
	BugClass string   `json:"bug_class"`
	Gain     string   `json:"gain"` // the attacker's gain
	Links    []string `json:"links,omitempty"`
	CVEs     []string `json:"cves,omitempty"`
}

// A Ring is a configuration that an implementation must accept or refuse before it reads a token.
type Ring struct {
	ID      string   `json:"id"`
	Comment string   `json:"comment"`
	Secrets []Hex    `json:"secrets"`
	TTL     *Seconds `json:"ttl,omitempty"`
	Expect  Verdict  `json:"expect"`
	// Readings are the verdicts of other readings that differ.
	Readings map[string]Verdict `json:"readings,omitempty"`
}

// A Verdict is the answer that an implementation must give.
type Verdict string

// The verdicts.
const (
	Accept Verdict = "accept"
	Refuse Verdict = "refuse"
)

// A Test is one token, read in one setting.
type Test struct {
	ID      string `json:"id"`
	Comment string `json:"comment"`
	Near    string `json:"near,omitempty"` // accepted test that differs from this one in one respect
	// Keys are the ring: the first seals, every one unseals. In the file of a
	// scheme, Keys, Options, Binding, Now and TTL are omitted if they equal
	// those of Near.
	Keys    []string          `json:"keys,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Binding *Binding          `json:"binding,omitempty"`
	Now     *Seconds          `json:"now,omitempty"`
	TTL     *Seconds          `json:"ttl,omitempty"`
	Minted  *Minted           `json:"minted,omitempty"` // setting in which the token was made
	Seed    *Hex              `json:"seed,omitempty"`
	Payload *Hex              `json:"payload,omitempty"` // of a codec
	State   *Hex              `json:"state,omitempty"`   // of a scheme
	// Sealed reports whether sealing the payload or state with the seed gives
	// exactly this token.
	Sealed bool `json:"sealed"`
	// Claims, Raw and Fields are omitted if they equal those of Near, like Seed,
	// Payload and State. Minted is omitted if it equals the setting of Near.
	Claims *Hex `json:"claims,omitempty"`
	// Raw are the bytes of each text segment before encoding. It is omitted if
	// decoding the token's segments gives the same bytes.
	Raw    []Hex            `json:"raw,omitempty"`
	Fields map[string]Place `json:"fields,omitempty"` // position of each field in Raw
	Token  string           `json:"token"`
	Expect Verdict          `json:"expect"`
	Stage  string           `json:"stage,omitempty"`  // of a refusal
	Reason string           `json:"reason,omitempty"` // the design's log text; not part of the format
	// Released are the released bytes. It is nil if the token is refused.
	Released *Hex `json:"released"`
	// Readings are the answers of other readings of the format that differ. "sdk" is the SDK's own answer.
	Readings map[string]Answer `json:"readings,omitempty"`
	Flags    []string          `json:"flags"`
}

// An Answer is the answer of one reading to a test.
type Answer struct {
	// Expect is Silent if the reading can neither accept the token nor refuse it.
	Expect   Verdict `json:"expect"`
	Stage    string  `json:"stage,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Released *Hex    `json:"released"`
}

// Silent is the verdict of a reading that neither accepts nor refuses.
const Silent Verdict = "silent"

// Answer returns the answer of a reading. If reading is "", it returns the answer of the strict reading,
// which is the test's own.
func (t *Test) Answer(reading string) Answer {
	if a, ok := t.Readings[reading]; ok {
		return a
	}
	return Answer{t.Expect, t.Stage, t.Reason, t.Released}
}

// A Place is the position of a field: the index of its segment, its first byte, and the byte after its
// last.
type Place [3]int

// A Minted is the setting in which a token was made.
type Minted struct {
	Keys    []string `json:"keys"`
	Binding *Binding `json:"binding,omitempty"`
	Now     *Seconds `json:"now,omitempty"`
	TTL     *Seconds `json:"ttl,omitempty"`
}

// A Binding is a codecs.Context in JSON. An absent member differs from an empty
// one.
type Binding struct {
	Method    string  `json:"method"`
	Target    string  `json:"target"`
	Arguments *string `json:"arguments,omitempty"` // raw JSON text as received
	Principal *string `json:"principal,omitempty"`
	Audience  *string `json:"audience,omitempty"`
}

// Ring returns the ordered secrets under which t is read.
func (f *File) Ring(t *Test) []Hex {
	var ring []Hex
	for _, name := range t.Keys {
		ring = append(ring, f.Keys[name])
	}
	return ring
}

// Folder holds the committed files, relative to the module root.
const Folder = "vectors/files"

// Path returns the path of a design's file in dir.
func Path(dir, design string) string { return filepath.Join(dir, design+".json") }

// Paths returns the sorted paths of the files in dir. It returns an error if
// dir has no such files.
func Paths(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s holds no vectors: want DESIGN.json", dir)
	}
	slices.Sort(paths)
	return paths, nil
}
