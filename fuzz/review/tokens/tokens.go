// Package tokens has functions on tokens without their keys: segments and what they hold,
// alterations, tags under well-known keys, and statistics over several tokens. It sends no request.
package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
)

// A Segment is a run of a token's text that may carry bytes in a text code, or
// the separators between two of them.
type Segment struct {
	Text  string
	coded bool
	hex   bool
	code  *base64.Encoding
}

// MinCoded is the shortest run, in characters, that is taken for coded bytes.
const MinCoded = 16

// codings are the base64 codes that a segment is tried with.
var codings = []*base64.Encoding{base64.RawURLEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.StdEncoding}

// hexPart is a part in hexadecimal beside '_' or '-', which are letters of base64url.
var hexPart = regexp.MustCompile(`(?:^|[_-])([0-9a-f]{32,}|[0-9A-F]{32,})(?:[_-]|$)`)

// Segments cuts a token where the letters of text codes begin and end, and around a
// hexPart.
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
	for _, code := range codings {
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

// Raw returns the bytes of a coded segment.
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

// Write returns bytes in the code of the segment.
func (s Segment) Write(b []byte) string {
	if s.hex {
		return hex.EncodeToString(b)
	}
	return s.code.EncodeToString(b)
}

// Replaced returns the token with another text in segment i.
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

// CodedSegments returns the indices of the coded segments.
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
