package tokens

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/attack/tokenfmt"
	"sealab/fuzz/review/jsondoc"
)

// A Variant is a state made from a token.
type Variant struct {
	Name string          // the same for tokens of one form
	Text string          // the token that is presented
	Raw  json.RawMessage // the whole JSON value, if it is not a string
}

// State returns the JSON value of requestState.
func (v Variant) State() json.RawMessage {
	if v.Raw != nil {
		return v.Raw
	}
	return jsondoc.Quote(v.Text)
}

// caseOf returns the number of letters of a segment that OtherCase tries. A readable segment needs
// more, because most of its letters belong to names and punctuation.
func caseOf(s Segment) int {
	if utf8.Valid(s.Raw()) {
		return 64
	}
	return 8
}

// OtherCase changes the case of letters in base64 segments, which changes their bytes. A server
// that ignores case when it computes the tag accepts the result.
func OtherCase(token string) []Variant {
	var all []Variant
	start := 0
	for _, s := range Segments(token) {
		var letters []int
		for i := range len(s.Text) {
			if c := s.Text[i] | 0x20; s.code != nil && c >= 'a' && c <= 'z' {
				letters = append(letters, start+i)
			}
		}
		start += len(s.Text)
		if strings.ToUpper(s.Text) == s.Text || strings.ToLower(s.Text) == s.Text {
			continue // readers of a single-case encoding may accept both cases
		}
		most := min(len(letters), caseOf(s))
		for n := range most {
			i := letters[n*len(letters)/most]
			all = append(all, Variant{Name: fmt.Sprintf("case of character %d", i), Text: token[:i] + string(token[i]^0x20) + token[i+1:]})
		}
	}
	return all
}

// Flips changes each character of a token. In a long token it changes the first and last 140, and
// at most about 300 between them.
func Flips(token string) []Variant {
	step := max(3, (len(token)-280)/300|1)
	return FlipsAt(token, func(d int) bool { return d <= 140 || d%step == 0 })
}

// mendedPlaces is the number of bytes that Mended changes for each position of the checksum.
const mendedPlaces = 20

// Mended changes bytes of the longest segment together with a CRC-32, at its end or before the
// bytes that the CRC covers. A CRC is linear, so its change under a stream cipher follows from the
// changed bytes.
func Mended(token string) []Variant {
	segments, at := Segments(token), -1
	for i, s := range segments {
		if s.coded && (at < 0 || len(s.Text) > len(segments[at].Text)) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	raw := segments[at].Raw()
	var all []Variant
	for _, sum := range []int{-4, 0, 12, 16} { // offset of the checksum; -4: at the end
		from, to, place := sum+4, len(raw), sum
		if sum < 0 {
			from, to, place = 0, len(raw)-4, len(raw)-4
		}
		if to-from < mendedPlaces {
			continue
		}
		for n := range mendedPlaces {
			i := from + n*(to-from)/mendedPlaces
			delta := make([]byte, to-i)
			change := crc32.ChecksumIEEE(delta)
			delta[0] = 1
			change ^= crc32.ChecksumIEEE(delta)
			for _, order := range []binary.ByteOrder{binary.BigEndian, binary.LittleEndian} {
				changed := slices.Clone(raw)
				changed[i] ^= 1
				order.PutUint32(changed[place:], order.Uint32(changed[place:])^change)
				all = append(all, Variant{Name: fmt.Sprintf("byte %d/%d with a CRC-32 at %d, %v", n, mendedPlaces, sum, order), Text: Replaced(segments, at, segments[at].Write(changed))})
			}
		}
	}
	return all
}

// FewFlips changes 12 to 24 characters of a long token. Tokens of similar length have the changes
// at the same places.
func FewFlips(token string) []Variant {
	step := 1
	for len(token)/step > 24 {
		step *= 2
	}
	return FlipsAt(token, func(d int) bool { return d%step == step/2 })
}

// FlipsAt changes the characters at the distances, from the nearer end, for which at returns true.
// Names contain the distance, so they mean the same place in a token of another length.
func FlipsAt(token string, at func(d int) bool) []Variant {
	var all []Variant
	i := 0
	for _, s := range Segments(token) {
		for range len(s.Text) {
			d, name := i, fmt.Sprintf("character %d", i)
			if i >= len(token)/2 {
				d = len(token) - i
				name = fmt.Sprintf("character %d from the end", d)
			}
			if c := token[i]; c != '=' && c < 0x80 && at(d) {
				flipped := Flip(c, s.hex)
				if !s.coded && c >= '0' && c <= '9' {
					flipped = c ^ 1 // a number stays one
				}
				all = append(all, Variant{Name: name, Text: token[:i] + string(flipped) + token[i+1:]})
			}
			i++
		}
	}
	return all
}

// Splices joins parts of two tokens at segment boundaries and in the middle. It drops results that
// equal either token.
func Splices(token, other string) []Variant {
	var all []Variant
	add := func(name, text string) {
		if text != token && text != other {
			all = append(all, Variant{Name: name, Text: text})
		}
	}
	if a, b := Segments(token), Segments(other); len(a) == len(b) {
		for i := range a {
			add(fmt.Sprintf("segment %d of another token", i), Replaced(a, i, b[i].Text))
		}
	}
	for _, part := range []int{4, 3, 2} {
		if i := len(token) / part; i < len(other) {
			add(fmt.Sprintf("1/%d of one, the rest of another", part), token[:i]+other[i:])
			add(fmt.Sprintf("1/%d of another, the rest of one", part), other[:i]+token[i:])
		}
	}
	for _, n := range []int{16, 22, 43, 64} { // base64 lengths of tags of 12, 16, 32 and 48 bytes
		if n < len(token) && n < len(other) {
			add(fmt.Sprintf("the last %d characters of another", n), token[:len(token)-n]+other[len(other)-n:])
		}
	}
	return all
}

// Joints joins the first segments of one token and the rest of another that has as many.
func Joints(token, other string) []Variant {
	var all []Variant
	a, b := Segments(token), Segments(other)
	for i := 1; i < len(a) && len(a) == len(b); i++ {
		text := Replaced(slices.Concat(a[:i], b[i:]), -1, "")
		if text != token && text != other {
			all = append(all, Variant{Name: fmt.Sprintf("%d segments of one, the rest of another", i), Text: text})
		}
	}
	return all
}

// Cuts shortens a token by each length up to 70 characters, which covers tags, and by some longer
// ones. It never returns the empty text, which may mean that there is no state.
func Cuts(token string) []Variant {
	var all []Variant
	for n := len(token) - 1; n > 0; n-- {
		if gone := len(token) - n; gone <= 70 || gone%max(8, len(token)/128) == 0 || n <= 8 {
			all = append(all, Variant{Name: fmt.Sprintf("%d characters cut off", gone), Text: token[:n]})
		}
	}
	for _, n := range []int{1, 2, 3, 4} {
		if n < len(token) {
			all = append(all, Variant{Name: fmt.Sprintf("%d characters cut off in front", n), Text: token[n:]})
		}
	}
	return append(all, shorterTags(token)...)
}

// shorterTags cuts the bytes of the last segment and encodes them again, so that a strict reader
// accepts the encoding. It skips segments that are longer than any tag.
func shorterTags(token string) []Variant {
	segments := Segments(token)
	last := len(segments) - 1
	raw := segments[last].Raw()
	var all []Variant
	for n := 1; n < len(raw) && last > 0 && len(raw) <= 64; n++ {
		all = append(all, Variant{Name: fmt.Sprintf("a tag of %d bytes", n), Text: Replaced(segments, last, segments[last].Write(raw[:n]))})
	}
	return all
}

// Some returns about n of the variants, evenly spaced.
func Some(all []Variant, n int) []Variant {
	var few []Variant
	for i := 0; i < len(all); i += (len(all) + n - 1) / n {
		few = append(few, all[i])
	}
	return few
}

// Flip changes one character in the highest bit of its base64 value, because the lowest bits may be
// unused. If inHex is set, it changes the highest bit of a hexadecimal digit. In any other
// character it changes the lowest bit.
func Flip(c byte, inHex bool) byte {
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

// Scramble replaces the characters of every encoded segment by random ones of the same kind. The
// result has the right form and random content. It returns false if there is no such segment.
func Scramble(token string, r *rand.Rand) (string, bool) {
	all := Segments(token)
	at := CodedSegments(all)
	for _, i := range at {
		all[i].Text = Scrambled(all[i].Text, r)
	}
	return Replaced(all, -1, ""), len(at) > 0
}

// Scrambled replaces the letters and digits of a text by random ones, by hexadecimal digits if the
// text is hexadecimal.
func Scrambled(text string, r *rand.Rand) string {
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

// mostSegments is the number of segments above which Generated skips a token. Such a token is a
// readable document, whose members Forgeries changes.
const mostSegments = 256

// Generated returns alterations of a token, at most most for each generator of the attacks. The
// flag spelling selects the generators. Tokens of one form get the same names.
func Generated(token string, spelling bool, most int, seed uint64) []Variant {
	var all []Variant
	format := tokenfmt.Infer([]byte(token))
	if len(format.Segments) > mostSegments {
		return nil
	}
	for _, g := range tokenfmt.Generators {
		if g.Spelling != spelling {
			continue
		}
		// The alterations of a long token may take gigabytes, so they are counted in one pass and
		// selected in a second.
		n := 0
		for range alteredTexts(g, format, token, seed) {
			n++
		}
		at, step := 0, (n+most-1)/most
		for text := range alteredTexts(g, format, token, seed) {
			if at%step == 0 {
				all = append(all, Variant{Name: fmt.Sprintf("%s %d", g.Name, at), Text: text})
			}
			at++
		}
	}
	return all
}

// alteredTexts returns the texts that a generator makes of a token. It skips texts that are not
// UTF-8, which JSON cannot carry. For a long token it returns a sample.
func alteredTexts(g tokenfmt.Generator, format tokenfmt.Format, token string, seed uint64) iter.Seq[string] {
	source := tokenfmt.NewSource(seed)
	if len(token) > 4096 {
		source.Sweep = 256
	}
	return func(yield func(string) bool) {
		for a := range g.Alter(format, source) {
			if len(a.Text) > 0 && utf8.Valid(a.Text) && string(a.Text) != token && !yield(string(a.Text)) {
				return
			}
		}
	}
}
