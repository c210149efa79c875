// Package codectest is the conformance suite for the contract of package
// codecs. A design's test is one call:
//
//	func TestConformance(t *testing.T) { codectest.Run(t, aesgcm.Design) }
//
// The suite holds a design to the contract, which every design must keep, and
// to the guarantees that it states; what a design disclaims is not demanded.
// Schemes are held to the same rules as codecs, under a fixed binding and time,
// and to those about bindings and time besides.
//
// Passing the suite shows that nothing in it refutes the design. The attacks of
// package fuzz/attack go further.
package codectest

import (
	"testing"

	"sealab/codecs"
)

// Run runs the suite on d, as subtests of t.
func Run(t *testing.T, d codecs.Design) {
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
