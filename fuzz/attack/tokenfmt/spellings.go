package tokenfmt

import (
	"bytes"
	"crypto/elliptic"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// UnusedBits changes the unused bits in the last character of each base64 or base32 segment
// (RFC 4648, section 3.5).
func UnusedBits(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		s := f.Segments[i]
		body := strings.TrimRight(s.Text, "=")
		pad := s.Text[len(body):]
		for _, c := range s.Encoding.letters() {
			other := body[:len(body)-1] + string(c) + pad
			if same, err := s.Encoding.Decode(other); err == nil && bytes.Equal(same, raw) {
				yield(Alteration{f.WithText(i, other), fmt.Sprintf("last character of segment %d as %q", i, c)})
			}
		}
	}
}

// OtherAlphabet replaces characters by those of the other base64 alphabet, one at a time and
// all at once.
func OtherAlphabet(f Format, _ *Source, yield func(Alteration)) {
	swap := map[byte]byte{'-': '+', '_': '/', '+': '-', '/': '_'}
	text := f.Text()
	all := bytes.Clone(text)
	for i, c := range text {
		to, ok := swap[c]
		if !ok {
			continue
		}
		all[i] = to
		one := bytes.Clone(text)
		one[i] = to
		yield(Alteration{one, fmt.Sprintf("%q for %q at %d", to, c, i)})
	}
	yield(Alteration{all, "the other base64 alphabet throughout"})
}

// Padding writes each segment with zero to three characters of padding.
func Padding(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		body := strings.TrimRight(s.Text, "=")
		for n := range 4 {
			yield(Alteration{f.WithText(i, body+strings.Repeat("=", n)), fmt.Sprintf("segment %d with %d characters of padding", i, n)})
		}
	}
	yield(Alteration{append([]byte("="), f.Text()...), "padding in front"})
}

// WhiteSpace inserts white space and line breaks.
func WhiteSpace(f Format, s *Source, yield func(Alteration)) {
	insertTexts(f, s, []string{" ", "\n", "\r\n", "\r", "\t", "\f", "\v", "\u00a0", "\u2028"}, yield)
}

// insertTexts yields the token with each text inserted at several places.
func insertTexts(f Format, s *Source, texts []string, yield func(Alteration)) {
	text := f.Text()
	for _, x := range texts {
		at := s.Places(len(text), 8)
		for i, c := range text {
			if !isBase64URL(c) && len(at) < 24 {
				at = append(at, i, i+1)
			}
		}
		for _, i := range at {
			altered := slices.Concat(text[:i], []byte(x), text[i:])
			yield(Alteration{altered, fmt.Sprintf("%q inserted at %d of %d", x, i, len(text))})
		}
	}
}

// LetterCase changes the case of letters, and writes percent escapes and spaces.
func LetterCase(f Format, s *Source, yield func(Alteration)) {
	text := string(f.Text())
	places := append(s.Places(len(text)-1, 12), len(text)-2, len(text)-3, len(text)-4, len(text)-5, len(text)-6)
	yield(Alteration{[]byte(strings.ToUpper(text)), "upper case"})
	yield(Alteration{[]byte(strings.ToLower(text)), "lower case"})
	for i, seg := range f.Segments {
		yield(Alteration{f.WithText(i, strings.ToUpper(seg.Text)), fmt.Sprintf("segment %d in upper case", i)})
		yield(Alteration{f.WithText(i, strings.ToLower(seg.Text)), fmt.Sprintf("segment %d in lower case", i)})
	}
	for _, i := range places {
		if i < 0 {
			continue
		}
		if c := text[i] ^ 0x20; c|0x20 >= 'a' && c|0x20 <= 'z' {
			yield(Alteration{fmt.Appendf(nil, "%s%c%s", text[:i], c, text[i+1:]), fmt.Sprintf("the letter at %d in the other case", i)})
		}
		yield(Alteration{fmt.Appendf(nil, "%s%%%02X%s", text[:i], text[i], text[i+1:]), fmt.Sprintf("percent escape at %d", i)})
	}
	yield(Alteration{[]byte(strings.ReplaceAll(text, "+", " ")), "space for plus"})
	yield(Alteration{[]byte(strings.ReplaceAll(text, ".", "%2E")), "escaped full stops"})
	yield(Alteration{[]byte(strings.ReplaceAll(text, "-", "%2D")), "escaped hyphens"})
	yield(Alteration{[]byte(strings.ReplaceAll(text, "_", "%5F")), "escaped low lines"})
}

// lookAlikes are pairs of characters that readers of base32 and base58 may confuse (RFC 4648,
// section 3.4).
var lookAlikes = []string{"O0", "I1", "L1", "o0", "i1", "l1", "UV", "S5", "B8", "Z2"}

// LookAlikes replaces the first, the last and every occurrence of a character in each segment
// by its look-alike, in both directions.
func LookAlikes(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		for _, pair := range lookAlikes {
			for _, x := range []string{pair, pair[1:] + pair[:1]} {
				from, to := x[:1], x[1:]
				first, last := strings.Index(s.Text, from), strings.LastIndex(s.Text, from)
				if first < 0 {
					continue
				}
				how := fmt.Sprintf("%s for %s in segment %d", to, from, i)
				yield(Alteration{f.WithText(i, s.Text[:first]+to+s.Text[first+1:]), how + ", the first"})
				if last > first {
					yield(Alteration{f.WithText(i, s.Text[:last]+to+s.Text[last+1:]), how + ", the last"})
					yield(Alteration{f.WithText(i, strings.ReplaceAll(s.Text, from, to)), how})
				}
			}
		}
	}
}

// numeralPattern matches a segment that may be a decimal or hexadecimal number.
var numeralPattern = regexp.MustCompile(`^(?:[0-9]{1,20}|[0-9a-fA-F]{1,16})$`)

// NumberForms writes each segment that may be a number in other forms that number parsers read
// as equal.
func NumberForms(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		if !numeralPattern.MatchString(s.Text) {
			continue
		}
		first, rest := s.Text[:1], s.Text[1:]
		arabic := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r - '0' + 0x0660
			}
			return r
		}, s.Text)
		for _, form := range []string{"0" + s.Text, "00" + s.Text, "+" + s.Text, "0x" + s.Text, s.Text + ".0", s.Text + ".", s.Text + "e0", s.Text + "n",
			first + "_" + rest, first + "," + rest, arabic, strings.TrimLeft(s.Text, "0")} {
			yield(Alteration{f.WithText(i, form), fmt.Sprintf("the number %s in segment %d written as %+q", s.Text, i, form)})
		}
	}
	text := f.Text() // the whole text may be one number in another base
	for at := range min(len(text), 6) {
		for _, zeros := range []string{"0", "A", "1", "00", "AA", "11"} {
			yield(Alteration{slices.Concat(text[:at], []byte(zeros), text[at:]), fmt.Sprintf("%q inserted at character %d", zeros, at)})
		}
	}
}

// ForeignCharacters inserts NUL, a byte order mark, invisible characters and invalid UTF-8. It
// also replaces letters by full-width forms and by bytes with the high bit set.
func ForeignCharacters(f Format, s *Source, yield func(Alteration)) {
	insertTexts(f, s, []string{"\x00", "\ufeff", "\u200b", "\xff", "\xc3", "\u00ad", "!", "*", "#", "\\", "\""}, yield)
	text := f.Text()
	for i, c := range text {
		if i >= 26 && i < len(text)-6 || c == '-' || c == '_' || !isBase64URL(c) {
			continue // the head and the end of the last segment represent the rest
		}
		high := append(bytes.Clone(text[:i]), c|0x80)
		yield(Alteration{fmt.Appendf(nil, "%s%s%s", text[:i], string(rune(c)+0xfee0), text[i+1:]), fmt.Sprintf("full-width %q at %d", c, i)})
		yield(Alteration{append(high, text[i+1:]...), fmt.Sprintf("%q with its high bit set at %d", c, i)})
		if c >= '0' && c <= '9' { // number parsers may not accept this digit
			yield(Alteration{fmt.Appendf(nil, "%s\u00b2%s", text[:i], text[i+1:]), fmt.Sprintf("superscript two at %d", i)})
		}
	}
}

// SameLowBytes adds 256 to the last characters of each segment, and to all. A reader that keeps
// only the low byte of a character sees no change.
func SameLowBytes(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		for _, n := range []int{1, 2, 3, 4, 8, len(s.Text)} {
			at := len(s.Text) - n
			if at < 0 {
				continue
			}
			wide := strings.Map(func(r rune) rune { return r + 0x100 }, s.Text[at:])
			yield(Alteration{f.WithText(i, s.Text[:at]+wide), fmt.Sprintf("the last %d characters of segment %d with 256 added", n, i)})
		}
	}
}

// OtherSerialization writes the same parts in another form: quoted, as JSON, with other
// separators, or in other encodings.
func OtherSerialization(f Format, _ *Source, yield func(Alteration)) {
	var parts []string
	for _, i := range f.Encoded() {
		parts = append(parts, f.Segments[i].Text)
	}
	text := string(f.Text())
	variants := []string{
		`"` + text + `"`, `{"token":"` + text + `"}`, `["` + text + `"]`, "Bearer " + text, "token=" + text,
		"<" + text + ">", "'" + text + "'", text + "&x=1",
	}
	for _, sep := range []string{".", ":", "|", "~", ",", ";", "/", ""} {
		variants = append(variants, strings.Join(parts, sep), strings.ReplaceAll(text, ".", sep), strings.ReplaceAll(text, ":", sep))
	}
	for _, sep := range []string{".", ":", "|", "~", ",", ";", "&", "--"} {
		variants = append(variants, reorderedTexts(text, sep)...)
	}
	if len(parts) >= 2 {
		last := len(parts) - 1
		variants = append(variants, fmt.Sprintf(`{"payload":"%s","signature":"%s"}`, parts[last-1], parts[last]))
	}
	if len(parts) >= 3 {
		variants = append(variants, fmt.Sprintf(`{"protected":"%s","payload":"%s","signature":"%s"}`, parts[0], parts[1], parts[2]))
	}
	for _, i := range f.Encoded() {
		for _, e := range Encodings {
			variants = append(variants, string(f.WithText(i, e.Encode(f.Segments[i].Bytes))))
		}
	}
	for _, v := range variants {
		yield(Alteration{[]byte(v), fmt.Sprintf("written as %.60q", v)})
	}
}

// reorderedTexts returns text with neighboring parts exchanged, with a duplicate part, and with an
// additional part.
func reorderedTexts(text, sep string) (all []string) {
	parts := strings.Split(text, sep)
	if len(parts) < 2 || len(parts) > 8 {
		return nil
	}
	for i, part := range parts {
		all = append(all, strings.Join(slices.Insert(slices.Clone(parts), i, part), sep), strings.Join(slices.Insert(slices.Clone(parts), i, "x=1"), sep))
		if i > 0 {
			other := slices.Clone(parts)
			other[i-1], other[i] = other[i], other[i-1]
			all = append(all, strings.Join(other, sep))
		}
	}
	return append(all, strings.Join(append(slices.Clone(parts), "x=1"), sep))
}

// TrailingData adds text before and after the token and before its segments, and adds bytes to
// each segment.
func TrailingData(f Format, s *Source, yield func(Alteration)) {
	text := string(f.Text())
	for _, x := range []string{"A", "AA", "AAAA", "x", "0", "00", ".", ".x", ".A", "..", ":", ":x", "~", "~2", "|", "?", "&a=b", ";", ",", "." + text, text, "," + text} {
		yield(Alteration{[]byte(text + x), fmt.Sprintf("%.40q appended", x)})
		yield(Alteration{[]byte(x + text), fmt.Sprintf("%.40q in front", x)})
	}
	for i, seg := range f.Segments { // the digit zero of encodings that write numbers
		for _, x := range []string{"0", "1", "11", "A", "!"} {
			yield(Alteration{f.WithText(i, x+seg.Text), fmt.Sprintf("%q in front of segment %d", x, i)})
		}
	}
	for i, raw := range f.EncodedBytes() {
		for _, tail := range [][]byte{{0}, {0, 0}, []byte("\n"), make([]byte, 16), s.Bytes(16), raw} {
			yield(Alteration{f.With(i, slices.Concat(raw, tail)), fmt.Sprintf("%d bytes appended in segment %d", len(tail), i)})
		}
		for _, zeros := range [][]byte{{0}, {0, 0, 0}} { // leading zeros of a number
			yield(Alteration{f.With(i, slices.Concat(zeros, raw)), fmt.Sprintf("%d zero bytes in front of segment %d", len(zeros), i)})
		}
	}
}

// The numbers of bytes that [Insertions] inserts: at both ends of a segment, and within it.
var (
	insertedAtEnds = append(numbersUpTo(64), 80, 96, 100, 128, 255, 256, 512, 1024, 4096)
	insertedWithin = []int{1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64}
)

func numbersUpTo(n int) (numbers []int) {
	for k := range n {
		numbers = append(numbers, k+1)
	}
	return numbers
}

// Insertions inserts random bytes behind each segment, in front of it, and at the places at which
// a nonce may end or a tag may start. It also appends zeros and parts of the segment. A reader may
// ignore one number of bytes only.
func Insertions(f Format, s *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		insert := func(at int, more []byte) {
			if 0 <= at && at <= len(raw) {
				yield(Alteration{f.With(i, slices.Insert(bytes.Clone(raw), at, more...)), fmt.Sprintf("%d bytes inserted behind the first %d in segment %d", len(more), at, i)})
			}
		}
		for _, k := range s.Range(len(insertedAtEnds)) {
			insert(len(raw), s.Bytes(insertedAtEnds[k]))
			insert(0, s.Bytes(insertedAtEnds[k]))
		}
		for _, k := range s.Range(len(insertedWithin)) {
			n := insertedWithin[k]
			insert(len(raw), make([]byte, n))
			insert(len(raw), raw[max(0, len(raw)-n):])
			insert(len(raw), raw[:min(len(raw), n)])
			for _, at := range []int{12, 16, 32, len(raw) - 16, len(raw) - 32} {
				insert(at, s.Bytes(n))
			}
		}
	}
}

// DoubledSegments repeats each segment, unchanged and altered, and the whole token.
func DoubledSegments(f Format, _ *Source, yield func(Alteration)) {
	for n, i := range f.Encoded() {
		seg := f.Segments[i]
		forged := bytes.Clone(seg.Bytes)
		forged[len(forged)/2] ^= 1
		good, bad := seg.Text, seg.Encoding.Encode(forged)
		for _, sep := range []string{".", ":", ",", "|", "~"} {
			for _, doubled := range []string{good + sep + bad, bad + sep + good, good + sep + good} {
				yield(Alteration{f.WithText(i, doubled), fmt.Sprintf("segment %d twice, joined by %q", i, sep)})
			}
		}
		if n > 0 {
			continue
		}
		altered := f.With(i, forged)
		for _, sep := range []string{",", " ", ".", "&"} {
			yield(Alteration{slices.Concat(f.Text(), []byte(sep), altered), "a good and a forged token"})
			yield(Alteration{slices.Concat(altered, []byte(sep), f.Text()), "a forged and a good token"})
		}
	}
}

// ShiftedBorders moves bytes from the end of one segment to the start of the next,
// and back.
func ShiftedBorders(f Format, s *Source, yield func(Alteration)) {
	at := f.Encoded()
	for k := 1; k < len(at); k++ {
		i, j := at[k-1], at[k]
		both := slices.Concat(f.Segments[i].Bytes, f.Segments[j].Bytes)
		for _, cut := range s.Range(len(both)) {
			if cut == 0 {
				continue
			}
			altered := f.Altered(i, both[:cut]).With(j, both[cut:])
			yield(Alteration{altered, fmt.Sprintf("segments %d and %d cut at %d instead of %d", i, j, cut, len(f.Segments[i].Bytes))})
		}
	}
}

// SecondSignatures treats the last 32 bytes of each segment as the scalar of a signature and
// writes its second form: S + L for Ed25519 (RFC 8032, section 8.4), n - s for ECDSA.
func SecondSignatures(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		if len(raw) < 32 {
			continue
		}
		head, last := raw[:len(raw)-32], raw[len(raw)-32:]
		if sum := littleEndian(last); sum.Add(sum, ed25519Order).BitLen() <= 256 {
			yield(Alteration{f.With(i, slices.Concat(head, littleBytes(sum, 32))), fmt.Sprintf("the order of Ed25519 added to the last number of segment %d", i)})
		}
		for _, n := range []*big.Int{elliptic.P256().Params().N, secp256k1Order} {
			if other := new(big.Int).Sub(n, new(big.Int).SetBytes(last)); other.Sign() > 0 {
				yield(Alteration{f.With(i, slices.Concat(head, other.FillBytes(make([]byte, 32)))), fmt.Sprintf("the last number of segment %d negated", i)})
			}
		}
	}
}
