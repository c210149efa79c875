package tokens

import (
	"slices"
	"strings"
)

// maxHeld is the number of tokens that Held returns, and minHeld the length of the shortest.
const maxHeld, minHeld = 4, 24

// Held returns the words of a text, and their parts behind the last slash and equals sign, that may be tokens:
// long ones with an encoded segment. A token may be a part of a URL.
func Held(text string) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`<>\\,;", r) }) {
		word = strings.Trim(word, ".:()[]{}")
		for _, joint := range []string{"", "/", "="} {
			part := word
			if at := strings.LastIndex(strings.TrimRight(word, "="), joint); joint != "" && at >= 0 {
				part = word[at+1:]
			}
			if len(part) >= minHeld && len(CodedSegments(Segments(part))) > 0 && !slices.Contains(all, part) && len(all) < maxHeld {
				all = append(all, part)
			}
		}
	}
	return all
}
