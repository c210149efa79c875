// Package tokens analyzes and alters tokens without their keys. It finds segments and the data in
// them, makes altered tokens, tests tags under well-known keys, and computes statistics over
// several tokens. It sends no requests.
package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// A Segment is a part of a token: a run of characters of a text encoding, or the separators between
// two of these.
type Segment struct {
	Text  string
	coded bool
	hex   bool
	code  *base64.Encoding
}

// MinCoded is the length of the shortest run that is taken for encoded bytes, in characters.
const MinCoded = 16

// base64Codings are the base64 encodings that are tried on a segment.
var base64Codings = []*base64.Encoding{base64.RawURLEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.StdEncoding}

// hexPart matches a hexadecimal part next to '_' or '-', which base64url uses as well.
var hexPart = regexp.MustCompile(`(?:^|[_-])([0-9a-f]{32,}|[0-9A-F]{32,})(?:[_-]|$)`)

// Segments splits a token at the boundaries of runs of encoding characters, and around a hexPart.
func Segments(token string) []Segment {
	var all []Segment
	for i := 0; i < len(token); {
		j := i
		for j < len(token) && isCoded(token[j]) == isCoded(token[i]) {
			j++
		}
		if strings.ContainsAny(token[i:j], "_-") {
			if at := hexPart.FindStringSubmatchIndex(token[i:j]); at != nil && at[2] > 0 {
				j = i + at[2]
			} else if at != nil {
				j = i + at[3]
			}
		}
		all = append(all, segmentOf(token[i:j]))
		i = j
	}
	return all
}

func segmentOf(text string) Segment {
	s := Segment{Text: text}
	if len(text) < MinCoded || !isCoded(text[0]) {
		return s
	}
	if _, err := hex.DecodeString(text); err == nil {
		s.coded, s.hex = true, true
		return s
	}
	for _, code := range base64Codings {
		if _, err := code.DecodeString(text); err == nil {
			s.coded, s.code = true, code
			return s
		}
	}
	return s
}

func isCoded(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_+/=", c) >= 0
}

// Raw returns the bytes of an encoded segment, or nil.
func (s Segment) Raw() []byte {
	if s.hex {
		b, _ := hex.DecodeString(s.Text)
		return b
	}
	if s.code == nil {
		return nil
	}
	b, _ := s.code.DecodeString(s.Text)
	return b
}

// Write encodes bytes in the encoding of the segment.
func (s Segment) Write(b []byte) string {
	if s.hex {
		return hex.EncodeToString(b)
	}
	return s.code.EncodeToString(b)
}

// Replaced returns the token with segment i replaced. It returns the token itself if i is -1.
func Replaced(all []Segment, i int, text string) string {
	var b strings.Builder
	for j, s := range all {
		if j == i {
			b.WriteString(text)
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// CodedSegments returns the indices of the encoded segments.
func CodedSegments(all []Segment) []int {
	var at []int
	for i, s := range all {
		if s.coded {
			at = append(at, i)
		}
	}
	return at
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

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
