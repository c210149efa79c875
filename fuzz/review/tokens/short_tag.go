package tokens

import (
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
