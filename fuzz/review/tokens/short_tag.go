package tokens

import (
	"crypto/aes"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// A ShortTag is the end of a token in plain text that is short enough to be guessed.
type ShortTag struct {
	Length  int
	letters []string // that each character may have
}

// Limits of a short tag, in characters, and of the parts before it. A longer part may be the tag.
const (
	maxShortTag  = 4
	maxPlainPart = 16
)

// textSeparators are characters that separate the parts of a token in plain text.
const textSeparators = separators + "-_/"

// ShortTagOf returns the short tag of tokens of different calls: the same number of characters behind the
// same separator, which are not the same in all tokens.
func ShortTagOf(all []string) (ShortTag, bool) {
	for n := 1; n <= maxShortTag; n++ {
		var ends []string
		for _, token := range all {
			at := len(token) - n - 1
			if at < 1 || token[at] != all[0][max(len(all[0])-n-1, 0)] || !strings.ContainsRune(textSeparators, rune(token[at])) || hasLongPart(token[:at]) {
				break
			}
			ends = append(ends, token[at+1:])
		}
		if len(ends) == len(all) && len(slices.Compact(slices.Sorted(slices.Values(ends)))) > 1 {
			letters, ok := lettersOf(ends)
			return ShortTag{n, letters}, ok
		}
	}
	return ShortTag{}, false
}

// hasLongPart reports whether a part of a text is neither short nor a number.
func hasLongPart(text string) bool {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(textSeparators, r) }) {
		if _, err := strconv.ParseUint(part, 10, 64); err != nil && len(part) > maxPlainPart {
			return true
		}
	}
	return false
}

// lettersOf returns the letters of the smallest usual alphabet that has all letters of some texts, for
// each place. The last letter of base64 may encode fewer bits.
func lettersOf(texts []string) ([]string, bool) {
	used := strings.Join(texts, "")
	for _, alphabet := range []string{"0123456789", "0123456789abcdef", "0123456789ABCDEF", base64Letters, strings.NewReplacer("-", "+", "_", "/").Replace(base64Letters)} {
		if strings.Trim(used, alphabet) != "" {
			continue
		}
		n := len(texts[0])
		all := slices.Repeat([]string{alphabet}, n)
		if step := map[int]int{2: 16, 3: 4}[n]; len(alphabet) == 64 && step > 0 && !slices.ContainsFunc(texts, func(text string) bool { return strings.IndexByte(alphabet, text[n-1])%step != 0 }) {
			all[n-1] = every(alphabet, step)
		}
		return all, true
	}
	return nil, false
}

// every returns each n-th letter of a text.
func every(text string, n int) string {
	var b strings.Builder
	for i := 0; i < len(text); i += n {
		b.WriteByte(text[i])
	}
	return b.String()
}

// Count returns the number of values of the tag.
func (s ShortTag) Count() int {
	n := 1
	for _, letters := range s.letters {
		n *= len(letters)
	}
	return n
}

// Bits returns the length of the tag in bits.
func (s ShortTag) Bits() int { return bits.Len(uint(s.Count() - 1)) }

// Value returns the i-th value of the tag.
func (s ShortTag) Value(i int) string {
	b := make([]byte, s.Length)
	for at, letters := range s.letters {
		b[at] = letters[i%len(letters)]
		i /= len(letters)
	}
	return string(b)
}

// earlier is the number of seconds by which Earlier changes a time.
const earlier = 5

// Earlier returns a token in which the last readable time is a little earlier, or "" if it has none.
func Earlier(token string) string {
	parts := strings.FieldsFunc(token, func(r rune) bool { return strings.ContainsRune(textSeparators, r) })
	for _, part := range slices.Backward(parts) {
		if n, err := strconv.ParseUint(part, 10, 64); err == nil && timeInOpen.MatchString(part) {
			change := uint64(earlier * math.Pow10(len(part)-10))
			at := strings.LastIndex(token, part)
			return token[:at] + strconv.FormatUint(n-change, 10) + token[at+len(part):]
		}
	}
	return ""
}

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
