package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// LongestSegment returns the bytes of the longest encoded segment.
func LongestSegment(token string) []byte {
	var found []byte
	for _, s := range Segments(token) {
		if raw := s.Raw(); len(raw) > len(found) {
			found = raw
		}
	}
	return found
}

// LongestRun returns the length of the longest run of x in the xor of a and b, at shifts from -4 to
// 4 bytes.
func LongestRun(a, b []byte, x byte) int {
	best := 0
	for shift := -4; shift <= 4; shift++ {
		run := 0
		for i := range a {
			if j := i + shift; j < 0 || j >= len(b) || a[i]^b[j] != x {
				run = 0
				continue
			}
			run++
			best = max(best, run)
		}
	}
	return best
}

// sameBytes is the shortest common prefix, in bytes, that SameStream takes for one key stream.
// sameTexts is the number of bytes after it that must differ as texts do.
const (
	sameBytes = 96
	sameTexts = 8
)

// SameStream reports whether two tokens were encrypted with one key stream: they begin alike and
// then differ only in low bits, as two texts do. After a common header or digest, the high bits
// differ as well. Texts that are not encrypted have few high bits.
func SameStream(a, b []byte) bool {
	n, high := 0, 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		high += int(a[n] >> 7)
		n++
	}
	if n < sameBytes || min(len(a), len(b)) < n+sameTexts || 8*high < 3*n {
		return false
	}
	veiled := false
	for i := n; i < n+sameTexts; i++ {
		if (a[i]^b[i])&0x80 != 0 {
			return false
		}
		veiled = veiled || a[i]&0x80 != 0
	}
	return veiled
}

// MinTag is the length of the shortest tag that is not reported, in bytes.
const MinTag = 8

// TagLength returns the number of bytes behind the readable state of a token, or of a longer tag in front of
// it, also within one segment. It returns false if the state cannot be read or may contain the tag.
func TagLength(token string) (int, bool) {
	all := Views(token)
	if len(all) == 0 || all[0].Segment < 0 {
		return 0, false // plain JSON may hold its tag as a member
	}
	front, behind, _ := strings.Cut(token, Segments(token)[all[0].Segment].Text)
	longest := len(all[0].after)
	for _, part := range strings.FieldsFunc(behind, isSeparator) {
		longest = max(longest, bytesOf(part))
	}
	before := []int{len(all[0].Before)}
	for _, part := range strings.FieldsFunc(front, isSeparator) {
		before = append(before, bytesOf(part))
	}
	for _, n := range before {
		if n >= MinTag { // a shorter one is a version or a key ID
			longest = max(longest, n)
		}
	}
	return longest, true
}

func isSeparator(r rune) bool { return strings.ContainsRune(".:~|,;!*$", r) }

// bytesOf returns the number of bytes that a text may encode.
func bytesOf(text string) int {
	if b, err := hex.DecodeString(text); err == nil {
		return len(b)
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return int(math.Ceil(math.Log2(float64(n)+1) / 8))
	}
	for _, code := range base64Codings {
		if b, err := code.DecodeString(text); err == nil {
			return len(b)
		}
	}
	if b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "=")); err == nil {
		return len(b)
	}
	return len(text)
}

// CountUp reports whether tokens contain a number that grows from each to the next.
func CountUp(all []string) bool {
	for _, base := range []int{10, 16} {
		last, grows := uint64(0), true
		for i, token := range all {
			n, ok := differingNumber(token, all, base)
			if !ok || i > 0 && (n <= last || n-last > 1<<34) {
				grows = false
				break
			}
			last = n
		}
		if grows {
			return true
		}
	}
	return false
}

// differingNumber returns the number at the place at which the tokens differ, in the given base. It
// includes the adjacent digits.
func differingNumber(token string, all []string, base int) (uint64, bool) {
	prefix, suffix := commonAffixes(all)
	if len(prefix)+len(suffix) >= len(token) {
		return 0, false
	}
	digits := "0123456789abcdef"[:base]
	from, to := len(prefix), len(token)-len(suffix)
	for from > 0 && strings.IndexByte(digits, token[from-1]) >= 0 && len(prefix)-from < 12 {
		from--
	}
	if to-from > 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(token[from:to], base, 64)
	return n, err == nil
}

// commonAffixes returns the longest prefix and suffix that all texts share.
func commonAffixes(all []string) (prefix, suffix string) {
	prefix, suffix = all[0], all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(s, suffix) {
			suffix = suffix[1:]
		}
	}
	return prefix, suffix
}

// VaryingBits estimates the entropy of tokens, in bits, from the characters that differ.
func VaryingBits(all []string) float64 {
	bits := 0.0
	for i := range len(all[0]) {
		seen := map[byte]bool{}
		class := 10.0
		for _, token := range all {
			if i >= len(token) {
				continue
			}
			c := token[i]
			seen[c] = true
			switch {
			case c >= 'g' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_+/", c) >= 0:
				class = 64
			case c >= 'a' && c <= 'f':
				class = max(class, 16)
			}
		}
		if len(seen) > 1 {
			bits += math.Log2(min(class, float64(len(seen))*4))
		}
	}
	return bits
}
