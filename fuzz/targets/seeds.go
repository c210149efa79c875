package targets

import (
	"bytes"

	"sealab/fuzz/program"
)

// begun returns each seed as it is, and followed by the mark that continues
// with drawn choices. It drops seeds that continue by themselves.
func begun(seeds [][]byte) [][]byte {
	all := make([][]byte, 0, 2*len(seeds))
	for _, seed := range seeds {
		if !program.GoesOn(seed) {
			all = append(all, seed, append(bytes.Clone(seed), program.More))
		}
	}
	return all
}

// meant returns seeds for a design so that they choose it even if it is costly.
// A costly design gets the first seed alone: fuzzers keep the mark in most of
// its mutations.
func meant(dear bool, seeds [][]byte) [][]byte {
	if !dear {
		return seeds
	}
	return [][]byte{append(bytes.Clone(seeds[0]), program.Dear)}
}
