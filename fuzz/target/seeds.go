package target

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
// dear: choices of zero behind an input change its digest and nothing else.
func meant(dear bool, seeds [][]byte) [][]byte {
	for i, seed := range seeds {
		for dear && program.New(seed).Digest()%rare != 0 {
			seed = append(seed, 0)
		}
		seeds[i] = seed
	}
	return seeds
}
