package tokens

import (
	"crypto/aes"
	"fmt"
	"slices"
)

// tagLengths are the lengths of tags that may follow the ciphertext in a segment.
var tagLengths = []int{0, 16, 20, 32, 64}

// PaddingProbes returns groups of 16 variants of a token for a padding oracle (Vaudenay 2002). If the longest
// segment ends with AES-CBC blocks whose padding (RFC 5652, section 6.3) has n bytes, only the n-th variant of
// a group has a valid padding, of one byte: the others are padded wrongly. Each group assumes a tag of another
// length behind the blocks. The bits of mask are changed in the byte before, so that no longer padding is valid.
func PaddingProbes(token string, mask byte) [][]Variant {
	segments := Segments(token)
	longest := -1
	for _, i := range CodedSegments(segments) {
		if longest < 0 || len(segments[i].Raw()) > len(segments[longest].Raw()) {
			longest = i
		}
	}
	if longest < 0 {
		return nil
	}
	raw := segments[longest].Raw()
	var groups [][]Variant
	for _, tag := range tagLengths {
		at := len(raw) - tag - aes.BlockSize - 1 // the last byte of the block before the last one
		if at < aes.BlockSize-1 {
			break
		}
		var group []Variant
		for n := byte(1); n <= aes.BlockSize; n++ {
			changed := slices.Clone(raw)
			changed[at] ^= n ^ 1
			changed[at-1] ^= mask
			group = append(group, Variant{Name: fmt.Sprintf("a padding of %d bytes %d before the end", n, tag), Text: Replaced(segments, longest, segments[longest].Write(changed))})
		}
		groups = append(groups, group)
	}
	return groups
}
