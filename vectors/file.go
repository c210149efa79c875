// Package vectors is the format sealab-vectors/1: what one design must accept
// and, above all, what it must refuse and at which stage, as data that an
// implementation in any language reads.
//
// A file is JSON (RFC 8259) with one test per line; README.md beside this
// package explains every member, and schema.json (JSON Schema 2020-12) is the
// rule that no member is unknown or missing. Bytes are lower-case hex, times
// are decimal strings of Unix seconds, and no number has a fraction.
//
// The committed files lie in the folder files, one per design of the catalog,
// and are changed by the generator alone (package generate). This package reads,
// writes and validates; it makes no token and judges none.
package vectors

import "sealab/codecs"

// Format names the format and its version.
const Format = "sealab-vectors/1"

// License is the licence of every file of vectors, as an SPDX expression.
const License = "CC0-1.0 OR 0BSD"

// A File is every vector of one design.
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
	SeedSize    int             `json:"seed_size"` // bytes of randomness per token; 0: deterministic
	Keys        map[string]Hex  `json:"keys"`      // the secrets, under the names that tests use
	Notes       map[string]Note `json:"notes"`     // one for each flag
	Rings       []Ring          `json:"rings"`
	NumberTests int             `json:"number_of_tests"`
	Tests       []Test          `json:"-"` // one per line, see Encode
}

// A Note says what it means that an implementation fails the tests of a flag.
type Note struct {
	BugClass string   `json:"bug_class"`
	Gain     string   `json:"gain"` // what an attacker gains
	Links    []string `json:"links,omitempty"`
	CVEs     []string `json:"cves,omitempty"`
}

// A Ring is a configuration that an implementation must take or refuse before
// it has seen any token.
type Ring struct {
	ID      string   `json:"id"`
	Comment string   `json:"comment"`
	Secrets []Hex    `json:"secrets"`
	TTL     *Seconds `json:"ttl,omitempty"`
	Expect  Verdict  `json:"expect"`
	// Readings are the verdicts of other readings, where they differ.
	Readings map[string]Verdict `json:"readings,omitempty"`
}

// A Verdict is what an implementation must do.
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
	Near    string `json:"near,omitempty"` // the accepted test from which this one differs in one thing
	// Keys are the ring: the first seals, every one unseals. In the file of a
	// scheme, Keys, Options, Binding, Now and TTL are left out where they are those
	// of Near.
	Keys    []string          `json:"keys,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Binding *Binding          `json:"binding,omitempty"`
	Now     *Seconds          `json:"now,omitempty"`
	TTL     *Seconds          `json:"ttl,omitempty"`
	Minted  *Minted           `json:"minted,omitempty"` // where the token was made
	Seed    *Hex              `json:"seed,omitempty"`
	Payload *Hex              `json:"payload,omitempty"` // of a codec
	State   *Hex              `json:"state,omitempty"`   // of a scheme
	// Sealed says that sealing the payload or state with the seed gives exactly
	// this token.
	Sealed bool `json:"sealed"`
	// Claims, Raw and Fields are left out where they are those of Near, like
	// Seed, Payload and State, and so is Minted where it is the setting of Near.
	Claims *Hex `json:"claims,omitempty"`
	// Raw are the bytes of each text segment before encoding, unless decoding the
	// segments of the token gives them.
	Raw    []Hex            `json:"raw,omitempty"`
	Fields map[string]Place `json:"fields,omitempty"` // where each field lies in Raw
	Token  string           `json:"token"`
	Expect Verdict          `json:"expect"`
	Stage  string           `json:"stage,omitempty"`  // of a refusal
	Reason string           `json:"reason,omitempty"` // what the design logs for it; not part of the format
	// Released is what comes back: nil on refusal.
	Released *Hex `json:"released"`
	// Readings are the answers of other readings of the format, where they differ:
	// "sdk" is that of the SDK itself.
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

// Silent is the verdict of a reading that has none.
const Silent Verdict = "silent"

// Answer returns the answer of a reading; "" is the strict reading, whose answer
// is that of the test itself.
func (t *Test) Answer(reading string) Answer {
	if a, ok := t.Readings[reading]; ok {
		return a
	}
	return Answer{t.Expect, t.Stage, t.Reason, t.Released}
}

// A Place is where a field lies: index of the segment, first byte, and the byte
// after the last.
type Place [3]int

// A Minted is the setting in which a token was made.
type Minted struct {
	Keys    []string `json:"keys"`
	Binding *Binding `json:"binding,omitempty"`
	Now     *Seconds `json:"now,omitempty"`
	TTL     *Seconds `json:"ttl,omitempty"`
}

// A Binding is a codecs.Context in JSON. What is absent is not there, which
// differs from empty.
type Binding struct {
	Method    string  `json:"method"`
	Target    string  `json:"target"`
	Arguments *string `json:"arguments,omitempty"` // the raw JSON text as received
	Principal *string `json:"principal,omitempty"`
	Audience  *string `json:"audience,omitempty"`
}

// Ring returns the secrets under which t is read, in order.
func (f *File) Ring(t *Test) []Hex {
	var ring []Hex
	for _, name := range t.Keys {
		ring = append(ring, f.Keys[name])
	}
	return ring
}
