package review

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/attack/tokenfmt"
)

// A segment is a run of a token's text that may carry bytes in a text code, or
// the separators between two of them.
type segment struct {
	text  string
	coded bool
	hex   bool
	code  *base64.Encoding
}

// minCoded is the shortest run, in characters, that is taken for coded bytes.
const minCoded = 16

// codings are the base64 codes that a segment is tried with.
var codings = []*base64.Encoding{base64.RawURLEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.StdEncoding}

// segmentsOf cuts a token where the letters of text codes begin and end.
func segmentsOf(token string) []segment {
	var all []segment
	for i := 0; i < len(token); {
		j := i
		for j < len(token) && isCoded(token[j]) == isCoded(token[i]) {
			j++
		}
		all = append(all, segmentOf(token[i:j]))
		i = j
	}
	return all
}

func segmentOf(text string) segment {
	s := segment{text: text}
	if len(text) < minCoded || !isCoded(text[0]) {
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

// raw returns the bytes of a coded segment.
func (s segment) raw() []byte {
	if s.hex {
		b, _ := hex.DecodeString(s.text)
		return b
	}
	if s.code == nil {
		return nil
	}
	b, _ := s.code.DecodeString(s.text)
	return b
}

// write returns bytes in the code of the segment.
func (s segment) write(b []byte) string {
	if s.hex {
		return hex.EncodeToString(b)
	}
	return s.code.EncodeToString(b)
}

// replaced returns the token with another text in segment i.
func replaced(all []segment, i int, text string) string {
	var b strings.Builder
	for j, s := range all {
		if j == i {
			b.WriteString(text)
		} else {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

// codedOf returns the indices of the coded segments.
func codedOf(all []segment) []int {
	var at []int
	for i, s := range all {
		if s.coded {
			at = append(at, i)
		}
	}
	return at
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// flip changes one character in the highest bit of its base64 value, so that no
// unused bit alone is changed; a hexadecimal digit in the highest bit of its
// value, and any other character in the lowest bit of its ASCII code.
func flip(c byte, inHex bool) byte {
	if inHex {
		const digits = "0123456789abcdef"
		if i := strings.IndexByte(digits, c|0x20); i >= 0 && c >= '0' {
			if c >= 'A' && c <= 'F' {
				return strings.ToUpper(digits[i^8 : i^8+1])[0]
			}
			return digits[i^8]
		}
	}
	switch i := strings.IndexByte(base64Letters, c); {
	case i >= 0:
		return base64Letters[i^32]
	case c == '+':
		return 'e'
	case c == '/':
		return 'f'
	}
	return c ^ 1
}

// scramble replaces the characters of every coded segment by random ones of the
// same kind, so that the form is right and the content is not.
func scramble(token string, r *rand.Rand) (string, bool) {
	all := segmentsOf(token)
	at := codedOf(all)
	for _, i := range at {
		all[i].text = scrambled(all[i].text, r)
	}
	return replaced(all, -1, ""), len(at) > 0
}

func scrambled(text string, r *rand.Rand) string {
	letters := base64Letters[:62]
	if strings.Trim(text, "0123456789abcdef-") == "" {
		letters = "0123456789abcdef"
	}
	b := []byte(text)
	for i, c := range b {
		if strings.IndexByte("-_+/=", c) < 0 {
			b[i] = letters[r.IntN(len(letters))]
		}
	}
	return string(b)
}

// A view is JSON that a token carries in the open: the whole token, or a coded
// segment of it.
type view struct {
	segment int // -1 if the whole token is the JSON
	object  map[string]json.RawMessage
	// before and after are the bytes of the segment around the JSON.
	before, after []byte
}

// maxBefore is how many bytes of a segment may stand before its JSON.
const maxBefore = 16

// views returns the JSON objects that can be read in a token without a key.
func views(token string) []view {
	if m := members(json.RawMessage(token)); m != nil {
		return []view{{segment: -1, object: m}}
	}
	var all []view
	segments := segmentsOf(token)
	for _, i := range codedOf(segments) {
		raw := segments[i].raw()
		for at := range min(maxBefore+1, len(raw)) {
			if object, rest, ok := jsonPrefix(raw[at:]); ok && len(members(object)) > 0 {
				all = append(all, view{i, members(object), raw[:at], rest})
				break
			}
		}
	}
	return all
}

// write returns the token with another object in the place of the view.
func (v view) write(token string, object json.RawMessage) string {
	if v.segment < 0 {
		return string(object)
	}
	all := segmentsOf(token)
	return replaced(all, v.segment, all[v.segment].write(slices.Concat(v.before, object, v.after)))
}

// readable returns everything that can be read in a token without a key: its
// text and the bytes of its segments.
func readable(token string) string {
	var b strings.Builder
	b.WriteString(token)
	for _, s := range segmentsOf(token) {
		if s.coded {
			b.WriteByte('\n')
			b.Write(s.raw())
		}
	}
	return b.String()
}

// generated returns at most most alterations of a token for each generator of the
// attacks that is of a kind. Names are the same for tokens of one form.
func generated(token string, spelling bool, most int, seed uint64) []variant {
	var all []variant
	format := tokenfmt.Infer([]byte(token))
	for _, g := range tokenfmt.Generators {
		if g.Spelling != spelling {
			continue
		}
		var of []variant
		for a := range g.Alter(format, tokenfmt.NewSource(seed)) {
			if len(a.Text) > 0 && utf8.Valid(a.Text) && string(a.Text) != token { // JSON carries UTF-8 alone
				of = append(of, variant{name: fmt.Sprintf("%s %d", g.Name, len(of)), text: string(a.Text)})
			}
		}
		all = append(all, some(of, most)...)
	}
	return all
}
