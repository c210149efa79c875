package targets

import (
	"bytes"

	"sealab/fuzz/program"
)

// begun returns what a target begins from: each seed as it says, and going on
// with choices that nobody made. One that would itself go on is left out.
func begun(seeds [][]byte) [][]byte {
	all := make([][]byte, 0, 2*len(seeds))
	for _, seed := range seeds {
		if !program.GoesOn(seed) {
			all = append(all, seed, append(bytes.Clone(seed), program.More))
		}
	}
	return all
}

// meant returns seeds for a design, such that they choose it even where it is
// dear. Of those that is one only, the first: fuzzers keep the mark that says so in
// most of what they make of it.
func meant(dear bool, seeds [][]byte) [][]byte {
	if !dear {
		return seeds
	}
	return [][]byte{append(bytes.Clone(seeds[0]), program.Dear)}
}
