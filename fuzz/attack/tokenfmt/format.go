package tokenfmt

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// A Format is the structure of one token, as far as its text shows it.
type Format struct {
	Segments []Segment
	worded   bool // the first segment is a leading word that was split off the second
	letters  int  // length of the first segment if it was split off without a separator
}

// A Segment is a run of the text of a token: a word, a separator, or encoded bytes.
type Segment struct {
	Text     string
	Encoding Encoding // the zero value if the segment is a word
	Bytes    []byte   // decoded; nil if the segment is a word
}

// Encoded reports whether the segment carries bytes.
func (s Segment) Encoded() bool { return s.Encoding.Name != "" }

// Infer returns the format of token. The references are other tokens of the same design,
// preferably under other keys and for payloads of other lengths.
func Infer(token []byte, references ...[]byte) Format {
	rows := [][]string{splitAtBorders(string(token))}
	for _, r := range references {
		rows = append(rows, splitAtBorders(string(r)))
	}
	rows, worded := cutWords(rows)
	f := Format{worded: worded}
	if !worded {
		f.letters = lettersBefore(rows)
		rows = cutLetters(rows, f.letters)
	}
	alike := likeFirst(rows)
	for i, text := range alike[0] {
		var column []string
		for _, row := range alike {
			column = append(column, row[i])
		}
		f.Segments = append(f.Segments, segmentOf(text, column))
	}
	return f
}

// segmentOf returns text as a segment. The column holds the same segment of all tokens,
// including text.
func segmentOf(text string, column []string) Segment {
	s := Segment{Text: text}
	if e, ok := encodingOf(column); ok {
		s.Encoding = e
		s.Bytes, _ = e.canonical(text)
	}
	return s
}

// splitAtBorders splits text at each border between letters of encodings and other characters,
// and at the '=' of a named value.
func splitAtBorders(text string) []string {
	var out []string
	for len(text) > 0 {
		n, encoded := 1, isEncodingLetter[text[0]]
		for n < len(text) && isEncodingLetter[text[n]] == encoded {
			n++
		}
		if named := memberPattern.FindString(text[:n]); named != "" {
			n = len(named) - 1
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// SegmentCount returns the number of segments of token before leading words are split off.
func SegmentCount(token []byte) int { return len(splitAtBorders(string(token))) }

// memberPattern matches a name, '=', and the first letter of a value. Padding is not followed
// by a letter.
var memberPattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,12}=[^=]`)

// cutWords splits off the leading word of each row. It reports false unless all rows have one.
// One random segment may look as if it began with a word; several are unlikely to.
func cutWords(rows [][]string) ([][]string, bool) {
	var cut [][]string
	for _, row := range rows {
		if len(row) == 0 {
			return rows, false
		}
		word, rest, ok := cutWord(row[0])
		if !ok {
			return rows, false
		}
		cut = append(cut, slices.Concat([]string{word, rest}, row[1:]))
	}
	return cut, true
}

// cutWord splits a leading word, with '-', '_', "--" or "__" behind it, off text.
func cutWord(text string) (word, rest string, ok bool) {
	i := strings.IndexAny(text, "-_")
	if i < 1 || i > 10 || len(text) < i+2+minEncoded {
		return "", "", false
	}
	for _, c := range text[:i] {
		if c >= 'A' && c <= 'Z' || c == '+' || c == '/' {
			return "", "", false
		}
	}
	end := i + 1
	if text[end] == text[i] {
		end++
	}
	return text[:end], text[end:], true
}

// likeFirst returns the rows with as many texts as the first one.
func likeFirst(rows [][]string) [][]string {
	return slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return len(row) != len(rows[0]) })
}

// mostLetters is the length of the longest prefix without a separator.
const mostLetters = 4

// lettersBefore returns the length of the shortest common prefix after which the first texts of
// all rows are encoded bytes that differ, or 0. It needs at least three rows, because fewer may
// agree by chance.
func lettersBefore(rows [][]string) int {
	common := mostLetters
	for _, row := range rows {
		if len(rows) < 3 || len(row) == 0 || len(row[0]) < mostLetters+minEncoded {
			return 0
		}
		for row[0][:common] != rows[0][0][:common] {
			common--
		}
	}
	alike := likeFirst(rows)
	for n := range common + 1 {
		var column []string
		for _, row := range alike {
			column = append(column, row[0][n:])
		}
		if _, ok := encodingOf(column); ok && len(slices.Compact(column)) > 1 {
			return n
		}
	}
	return 0
}

// cutLetters splits n letters off the first text of each row.
func cutLetters(rows [][]string, n int) [][]string {
	if n == 0 {
		return rows
	}
	var cut [][]string
	for _, row := range rows {
		at := min(n, len(row[0]))
		cut = append(cut, slices.Concat([]string{row[0][:at], row[0][at:]}, row[1:]))
	}
	return cut
}

// mostEncoded is the number of segments that [Format.Encoded] returns at most. A long token in an
// alphabet with separators in it, such as base45, seems to have thousands.
const mostEncoded = 12

// Encoded returns the indices of the segments that carry bytes: the first and the last ones if they
// are many.
func (f Format) Encoded() []int {
	var at []int
	for i, s := range f.Segments {
		if s.Encoded() {
			at = append(at, i)
		}
	}
	if len(at) > mostEncoded {
		at = slices.Delete(at, mostEncoded/2, len(at)-mostEncoded/2)
	}
	return at
}

// EncodedBytes yields the indices of [Format.Encoded] with the bytes of their segments.
func (f Format) EncodedBytes() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for _, i := range f.Encoded() {
			if !yield(i, f.Segments[i].Bytes) {
				return
			}
		}
	}
}

// LastEncoded returns the index of the last segment that carries bytes. It reports false if no
// segment does.
func (f Format) LastEncoded() (int, bool) {
	at := f.Encoded()
	if len(at) == 0 {
		return 0, false
	}
	return at[len(at)-1], true
}

// LongestEncoded returns the index of the first of the segments with the most bytes. It reports
// false if no segment carries bytes.
func (f Format) LongestEncoded() (int, bool) {
	at := f.Encoded()
	if len(at) == 0 {
		return 0, false
	}
	return slices.MaxFunc(at, func(i, j int) int { return len(f.Segments[i].Bytes) - len(f.Segments[j].Bytes) }), true
}

// Text returns the whole token.
func (f Format) Text() []byte { return f.WithText(-1, "") }

// With returns the token with other bytes in segment i.
func (f Format) With(i int, raw []byte) []byte {
	return f.WithText(i, f.Segments[i].Encoding.Encode(raw))
}

// WithText returns the token with another text for segment i.
func (f Format) WithText(i int, text string) []byte {
	n := len(text)
	for _, s := range f.Segments {
		n += len(s.Text)
	}
	b := make([]byte, 0, n)
	for j, s := range f.Segments {
		if j == i {
			b = append(b, text...)
			continue
		}
		b = append(b, s.Text...)
	}
	return b
}

// Clone returns a copy that shares no bytes with f.
func (f Format) Clone() Format {
	f.Segments = slices.Clone(f.Segments)
	for i := range f.Segments {
		f.Segments[i].Bytes = slices.Clone(f.Segments[i].Bytes)
	}
	return f
}

// Altered returns the format of the token with other bytes in segment i.
func (f Format) Altered(i int, raw []byte) Format {
	f.Segments = slices.Clone(f.Segments)
	f.Segments[i].Text, f.Segments[i].Bytes = f.Segments[i].Encoding.Encode(raw), raw
	return f
}

// Bytes returns the bytes of all segments, concatenated.
func (f Format) Bytes() []byte {
	var all []byte
	for _, s := range f.Segments {
		all = append(all, s.Bytes...)
	}
	return all
}

// Words returns the text of the segments that carry no bytes, concatenated.
func (f Format) Words() string {
	var all strings.Builder
	for _, s := range f.Segments {
		if !s.Encoded() {
			all.WriteString(s.Text)
		}
	}
	return all.String()
}

// Before returns the text before segment i.
func (f Format) Before(i int) []byte {
	var b []byte
	for _, s := range f.Segments[:i] {
		b = append(b, s.Text...)
	}
	return b
}

// Spells reports whether a lenient reader finds the bytes of the token in text. Such a reader
// accepts both cases of hexadecimal and base32 and both base64 alphabets, skips characters
// outside all encodings, ignores trailing bytes of a segment, and joins the bytes of segments. If
// all letters of the token have one case, it may be a name for reading aloud, so neither case nor
// hyphens count.
func (f Format) Spells(text []byte) bool {
	if own := string(f.Text()); own == strings.ToLower(own) || own == strings.ToUpper(own) {
		spoken := func(s string) string { return strings.ReplaceAll(s, "-", "") }
		if strings.EqualFold(spoken(string(text)), spoken(own)) {
			return true
		}
	}
	found := [][]string{splitAtBorders(string(text))}
	if f.worded {
		found, _ = cutWords(found)
	}
	if len(found[0]) > 0 {
		found = cutLetters(found, f.letters)
	}
	if len(found[0]) != len(f.Segments) {
		return bytes.Equal(decodeLeniently(text), decodeLeniently(f.Text()))
	}
	spelled := true
	var joined []byte
	for i, s := range f.Segments {
		is := s.spells(found[0][i])
		if s.Encoded() {
			raw, _ := s.Encoding.canonical(found[0][i])
			joined = append(joined, raw...)
		} else if !is {
			return false
		}
		spelled = spelled && is
	}
	return spelled || bytes.Equal(joined, f.Bytes())
}

// SparesPrefix reports whether text is the token without the words and separators in front, or with these in another
// case. A reader may take a token for one whether or not its name stands in front.
func (f Format) SparesPrefix(text []byte) bool {
	n := 0
	for _, s := range f.Segments {
		if s.Encoded() {
			break
		}
		n += len(s.Text)
	}
	own := string(f.Text())
	before, ok := strings.CutSuffix(string(text), own[n:])
	return ok && n < len(own) && (before == "" || strings.EqualFold(before, own[:n]))
}

// OtherLetters reports whether the bytes that text carries differ from those of the token in the case of ASCII letters
// alone, as those of a hexadecimal number in them.
func (f Format) OtherLetters(text []byte) bool {
	one, two := decodeLeniently(f.Text()), decodeLeniently(text)
	if len(one) != len(two) {
		return false
	}
	for i, c := range one {
		if small := c | 0x20; c != two[i] && (small != two[i]|0x20 || small < 'a' || small > 'z') {
			return false
		}
	}
	return true
}

func (s Segment) spells(text string) bool {
	base64 := strings.HasPrefix(s.Encoding.Name, "base64")
	switch {
	case !s.Encoded():
		return s.Text == strings.Map(func(r rune) rune {
			if r < 0x80 && isEncodingLetter[r] || strings.ContainsRune(s.Text, r) {
				return r
			}
			return -1
		}, text)
	case strings.EqualFold(text, s.Text) && !base64:
		return true
	}
	raw, err := s.Encoding.Decode(text)
	if err == nil {
		return bytes.HasPrefix(raw, s.Bytes)
	}
	return base64 && bytes.Equal(decodeLeniently([]byte(text)), s.Bytes)
}

// Head returns the segment and the length of the constant head of the bytes of tokens that one
// key sealed, for example a version or a key ID. It reports false if the first encoded segment
// has no such head, or if more than 32 bytes are constant.
func (f Format) Head(others ...Format) (segment, n int, ok bool) {
	at := f.Encoded()
	if len(at) == 0 {
		return 0, 0, false
	}
	i := at[0]
	head := f.Segments[i].Bytes
	for _, o := range others {
		if i >= len(o.Segments) {
			return 0, 0, false
		}
		raw := o.Segments[i].Bytes
		for k := range head {
			if k >= len(raw) || raw[k] != head[k] {
				head = head[:k]
				break
			}
		}
	}
	return i, len(head), len(head) > 0 && len(head) <= 32
}
