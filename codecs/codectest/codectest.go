// Package codectest is the conformance suite for the contract of package
// codecs. A design's test is one call:
//
//	func TestConformance(t *testing.T) { codectest.Run(t, aesgcm.Design) }
//
// The suite checks the contract, which every design must keep, and the
// guarantees that the design claims. It does not test properties that a design
// disclaims. It checks schemes as codecs in a fixed context, and also the rules
// for contexts and time.
//
// A design that passes is not refuted by this suite. The attacks of package
// fuzz/attack test more.
package codectest

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// Run runs the suite on d, as subtests of t.
func Run(t *testing.T, d codecs.Design) {
	run(t, d)
	for _, o := range d.Options {
		for _, value := range o.Values[1:] {
			t.Run(o.Name+"="+value, func(t *testing.T) { runWith(t, d, map[string]string{o.Name: value}) })
		}
	}
}

// runWith runs the suite under other options than the defaults. It skips
// options under which the context of the suite cannot be minted.
func runWith(t *testing.T, d codecs.Design, options map[string]string) {
	d = lab.With(d, options)
	if _, err := (subject{d}).codec(t).Seal(nil, subject{d}.sample()); errors.Is(err, codecs.ErrUnsupported) {
		testenv.Skip(t, "%s with %v does not mint for the context of the suite: %v", d.Name, options, err)
	}
	run(t, d)
}

func run(t *testing.T, d codecs.Design) {
	t.Run("Row", func(t *testing.T) { testRow(t, d) })
	for _, part := range []struct {
		name string
		test func(*testing.T, subject)
	}{
		{"RoundTrip", testRoundTrip},
		{"Append", testAppend},
		{"Arguments", testArguments},
		{"Slices", testSlices},
		{"Changes", testChanges},
		{"Spellings", testSpellings},
		{"Total", testTotal},
		{"Refusals", testRefusals},
		{"Keys", testKeys},
		{"Rotation", testRotation},
		{"Concurrency", testConcurrency},
		{"Seeded", testSeeded},
		{"Edited", testEdited},
		{"Inspect", testInspect},
		{"Allocations", testAllocations},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, subject{d}) })
	}
	if d.IsScheme() {
		t.Run("Bindings", func(t *testing.T) { testBindings(t, subject{d}) })
		t.Run("Expiry", func(t *testing.T) { testExpiry(t, subject{d}) })
	}
}

// A libraryCase is the answer of a library to a token: a line of
// testdata/library.jsonl in a design's folder.
type libraryCase struct {
	Design  string            `json:"design"`
	Library string            `json:"library"` // name and version
	Options map[string]string `json:"options"`
	Key     []byte            `json:"key"`
	TTL     int               `json:"ttl"` // seconds
	Target  string            `json:"target"`
	Minted  string            `json:"minted"` // "library" or "here"
	Now     int64             `json:"now"`    // milliseconds
	Token   []byte            `json:"token"`
	State   *string           `json:"state"` // nil if refused
}

// Library compares a design with the answers that a library gave to its own
// tokens and to modified ones, in testdata/library.jsonl. Both accepted and
// refused ones must occur.
func Library(t *testing.T, designs ...codecs.Design) {
	file, err := os.Open("testdata/library.jsonl")
	require.NoError(t, err)
	defer file.Close()
	counts := map[bool]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var c libraryCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		for _, d := range designs {
			if d.Name == c.Design {
				counts[c.State != nil]++
				c.judge(t, d)
			}
		}
	}
	require.NoError(t, lines.Err())
	require.NotZero(t, counts[true])
	require.NotZero(t, counts[false])
}

func (c *libraryCase) judge(t *testing.T, d codecs.Design) {
	ttl := time.Duration(c.TTL) * time.Second
	in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{c.Key}, TTL: &ttl, Options: c.Options})
	require.NoError(t, err)
	got, err := in.Unseal(nil, c.Token, &codecs.Context{Now: time.UnixMilli(c.Now), Target: c.Target})
	if c.State == nil {
		require.NotNil(t, codecs.Rejected(err), "%s refused %q; here: %v", c.Library, c.Token, err)
		return
	}
	require.NoError(t, err, "%s accepted %q", c.Library, c.Token)
	require.Equal(t, *c.State, string(got), "%q", c.Token)
}
