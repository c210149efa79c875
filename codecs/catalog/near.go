package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxNear is the maximum number of names that an error suggests.
const maxNear = 5

// maxListed is the maximum number of names that an error lists.
const maxListed = 20

// Unknown returns the error for a name that is not in known. It suggests
// similar names. If there are none, it lists all known names, or the first
// maxListed.
func Unknown(kind, name string, known []string) error {
	if near := nearTo(name, known); len(near) > 0 {
		return fmt.Errorf("no %s %q; did you mean %s", kind, name, strings.Join(near, ", "))
	}
	if len(known) > maxListed {
		return fmt.Errorf("no %s %q; there are %d, such as %s; sealab list prints the designs", kind, name, len(known), strings.Join(known[:maxNear], ", "))
	}
	return fmt.Errorf("no %s %q; there are %s", kind, name, strings.Join(known, ", "))
}

// nearTo returns the known names that are similar to name, most similar first:
// they differ in few letters, contain its letters in order, or share its first
// three letters.
func nearTo(name string, known []string) []string {
	name = strings.ToLower(name)
	if len(name) < 3 {
		return nil
	}
	var near []string
	for _, k := range known {
		if distance(name, k) <= 1+len(name)/4 || isSubsequence(name, k) || strings.HasPrefix(k, name[:3]) {
			near = append(near, k)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	return near[:min(len(near), maxNear)]
}

// distance returns the Levenshtein distance of two texts.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := above
			if a[i] != b[j] {
				change++
			}
			above = row[j+1]
			row[j+1] = min(change, row[j]+1, above+1)
		}
	}
	return row[len(b)]
}

// isSubsequence reports whether text contains the letters of part in the same
// order.
func isSubsequence(part, text string) bool {
	for i := range len(text) {
		if part != "" && text[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}
