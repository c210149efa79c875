package tokenfmt

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Truncation yields every prefix and suffix of the token, and of the bytes of each segment.
func Truncation(f Format, s *Source, yield func(Alteration)) {
	text := f.Text()
	for _, n := range s.Range(len(text)) {
		yield(Alteration{text[:n], fmt.Sprintf("cut to %d of %d characters", n, len(text))})
		yield(Alteration{text[n+1:], fmt.Sprintf("the first %d characters left out", n+1)})
	}
	for i, raw := range f.EncodedBytes() {
		for _, n := range s.Range(len(raw)) {
			yield(Alteration{f.With(i, raw[:n]), fmt.Sprintf("segment %d cut to %d of %d bytes", i, n, len(raw))})
			yield(Alteration{f.With(i, raw[n+1:]), fmt.Sprintf("the first %d bytes of segment %d left out", n+1, i)})
		}
	}
}

// mostPaired is the largest number of segments for which every pair is emptied.
const mostPaired = 64

// EmptySegments yields texts that are almost empty, and the token with one or two segments
// empty.
func EmptySegments(f Format, _ *Source, yield func(Alteration)) {
	give := func(text []byte) { yield(Alteration{text, fmt.Sprintf("%.60q presented", text)}) }
	for _, text := range []string{"", ".", "..", "...", "....", " ", "\n", "\x00", "{}", "[]", "null", `""`, "0", "v1", "v1.", "v1..", "=", "e30", "e30."} {
		give([]byte(text))
	}
	for i := range f.Segments {
		give(f.WithText(i, ""))
		if len(f.Segments) > mostPaired {
			continue
		}
		for j := range i {
			both := Format{Segments: slices.Clone(f.Segments)}
			both.Segments[j].Text = ""
			give(both.WithText(i, ""))
		}
	}
}

// BitFlips flips every bit of the bytes, and replaces every character.
func BitFlips(f Format, s *Source, yield func(Alteration)) {
	for _, i := range f.Encoded() {
		for _, bit := range s.Range(8 * len(f.Segments[i].Bytes)) {
			yield(f.Flip(i, bit))
		}
	}
	text := f.Text()
	for _, i := range s.Range(len(text)) {
		c, other := text[i], byte('A')
		if c == other {
			other = 'Q'
		}
		altered := bytes.Clone(text)
		altered[i] = other
		yield(Alteration{altered, fmt.Sprintf("%q for %q at %d", other, c, i)})
	}
}

// Flip flips one bit of segment i.
func (f Format) Flip(i, bit int) Alteration {
	altered := bytes.Clone(f.Segments[i].Bytes)
	altered[bit/8] ^= 1 << (bit % 8)
	return Alteration{f.With(i, altered), fmt.Sprintf("bit %d of byte %d of %d in segment %d flipped", bit%8, bit/8, len(altered), i)}
}

// Lengths writes extreme numbers over each of the first 40 bytes of each segment, which may
// hold a length, a count or an offset. It also replaces segments that are numbers.
func Lengths(f Format, _ *Source, yield func(Alteration)) {
	numbers := [][]byte{{0}, {0x7f}, {0xff}, {0xff, 0xff}, {0x7f, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0xff}, {0xff, 0xff, 0xff, 0x7f},
		binary.BigEndian.AppendUint32(nil, 1<<30), binary.LittleEndian.AppendUint32(nil, 1<<30),
		binary.BigEndian.AppendUint64(nil, 1<<62), bytes.Repeat([]byte{0xff}, 8), make([]byte, 4), make([]byte, 8),
		binary.AppendUvarint(nil, 1<<63-1), binary.AppendUvarint(nil, 1<<64-1)} // beyond any sum, and negative if signed
	for i, s := range f.Segments {
		if !numeralPattern.MatchString(s.Text) {
			continue
		}
		for _, digits := range []int{7, 8, 9, 10, 19, 20, 40, 400, 5000} { // within 32 bits; beyond 32 and 64 bits, a double, and Python's limit
			yield(Alteration{f.WithText(i, strings.Repeat("9", digits)), fmt.Sprintf("%d digits in segment %d", digits, i)})
		}
		yield(Alteration{f.WithText(i, "-1"), fmt.Sprintf("-1 in segment %d", i)})
	}
	for i, raw := range f.EncodedBytes() {
		for at := range min(len(raw), 40) {
			for _, number := range numbers {
				if len(number) > len(raw)-at {
					continue
				}
				altered := bytes.Clone(raw)
				copy(altered[at:], number)
				yield(Alteration{f.With(i, altered), fmt.Sprintf("%x written at byte %d of segment %d", number, at, i)})
			}
		}
	}
}

// Versions replaces words, and sets each of the first bytes of each segment to other values.
func Versions(f Format, s *Source, yield func(Alteration)) {
	for i, seg := range f.Segments {
		if !seg.Encoded() {
			for _, word := range OtherWords(seg.Text) {
				yield(Alteration{f.WithText(i, word), fmt.Sprintf("%q for %q", word, seg.Text)})
			}
			continue
		}
		for at := range min(8, len(seg.Bytes)) {
			for _, v := range s.Range(256) {
				altered := bytes.Clone(seg.Bytes)
				altered[at] = byte(v)
				yield(Alteration{f.With(i, altered), fmt.Sprintf("byte %d of segment %d set to %d", at, i, v)})
			}
		}
	}
}

// OtherWords returns other values of a version, an algorithm or a separator.
func OtherWords(word string) []string {
	words := []string{"", "none", "None", "nOne", "NONE", "null", "v0", "v1", "v2", "v3", "v4", "v9", "v1e", "v1s", "legacy", "plain", "dev", "test", "debug", "unsafe", "raw"}
	for i := range word {
		for _, c := range "0123456789" {
			if word[i] >= '0' && word[i] <= '9' {
				words = append(words, word[:i]+string(c)+word[i+1:])
			}
		}
		words = append(words, word[:i]+"X"+word[i+1:], word[:i]+word[i+1:])
	}
	for _, sep := range ".-_:" {
		if strings.HasSuffix(word, string(sep)) {
			words = append(words, "v0"+string(sep), "none"+string(sep), "plain"+string(sep), "legacy"+string(sep), "test"+string(sep))
		}
	}
	return words
}

// Unsigned replaces the first word of the token and drops the last segment.
func Unsigned(f Format, _ *Source, yield func(Alteration)) {
	at := f.Encoded()
	if len(at) < 2 || at[0] == 0 {
		return
	}
	last := at[len(at)-1]
	for _, word := range OtherWords(f.Segments[0].Text) {
		for _, end := range []int{last, last - 1} { // with the last separator and without
			rest := Format{Segments: f.Segments[1:end]}
			yield(Alteration{append([]byte(word), rest.Text()...), fmt.Sprintf("%q for %q, without the last segment", word, f.Segments[0].Text)})
		}
	}
}

// Heads sets the first 1 to 16 bytes of each segment to constants and to neighboring numbers.
// A key ID or a version may be there.
func Heads(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for n := 1; n <= min(16, len(raw)); n++ {
			f.WithHead(i, n, yield)
		}
	}
}

// WithHead yields the tokens in which the first n bytes of segment i are all zero, all 0xff,
// all spaces, all '0', or a neighboring number.
func (f Format) WithHead(i, n int, yield func(Alteration)) {
	raw := f.Segments[i].Bytes
	for _, c := range []byte{0, 0xff, ' ', '0'} {
		yield(Alteration{f.With(i, slices.Concat(bytes.Repeat([]byte{c}, n), raw[n:])), fmt.Sprintf("the first %d bytes of segment %d set to %#x", n, i, c)})
	}
	for _, by := range []int{1, -1} {
		yield(Alteration{f.With(i, slices.Concat(adjacentNumber(raw[:n], by), raw[n:])), fmt.Sprintf("%+d added to the first %d bytes of segment %d", by, n, i)})
	}
}

// adjacentNumber returns the big-endian number b plus by, which is 1 or -1.
func adjacentNumber(b []byte, by int) []byte {
	out := bytes.Clone(b)
	for k := len(out) - 1; k >= 0; k-- {
		out[k] += byte(by)
		if by > 0 && out[k] != 0 || by < 0 && out[k] != 0xff {
			break
		}
	}
	return out
}

// Blocks exchanges, repeats and drops neighboring blocks of 16 bytes.
func Blocks(f Format, s *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, n := range s.Range(max(0, len(raw)-28) / 4) {
			from := 4 * n
			x, y := raw[from:from+16], raw[from+16:from+32]
			for _, middle := range [][][]byte{{y, x}, {y}, {x}, {x, x, y}} {
				altered := slices.Concat(raw[:from], slices.Concat(middle...), raw[from+32:])
				yield(Alteration{f.With(i, altered), fmt.Sprintf("the 16-byte blocks at byte %d of segment %d exchanged, repeated or left out", from, i)})
			}
		}
	}
}

// Exchanged exchanges two blocks in the middle of each segment. Blocks have 8 to 128 bytes or
// characters, are adjacent or one block apart, and start at every offset modulo their length.
func Exchanged(f Format, _ *Source, yield func(Alteration)) {
	exchange := func(raw []byte, at, apart, n int) []byte {
		other := at + apart*n
		return slices.Concat(raw[:at], raw[other:other+n], raw[at+n:other], raw[at:at+n], raw[other+n:])
	}
	for i, raw := range f.EncodedBytes() {
		text := []byte(f.Segments[i].Text)
		for _, n := range []int{8, 16, 32, 64, 128} {
			for _, apart := range []int{1, 2} {
				for k := range n {
					if at := len(raw)/2 - n + k; at >= 0 && at+(apart+1)*n <= len(raw) {
						yield(Alteration{f.With(i, exchange(raw, at, apart, n)), fmt.Sprintf("two blocks of %d bytes exchanged at byte %d of segment %d", n, at, i)})
					}
					if at := len(text)/2 - n + k; at >= 0 && at+(apart+1)*n <= len(text) {
						yield(Alteration{f.WithText(i, string(exchange(text, at, apart, n))), fmt.Sprintf("two blocks of %d characters exchanged at character %d of segment %d", n, at, i)})
					}
				}
			}
		}
	}
}

// lowOrder are the points of low order of X25519, little-endian, whose multiples are known (RFC
// 7748, section 6.1).
var lowOrder = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
	"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// Points writes special points of X25519, and the second form of the point, over each run of 32
// bytes near the start of each segment.
func Points(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for at := range min(20, max(0, len(raw)-31)) {
			for _, form := range formsOf(raw[at : at+32]) {
				altered := slices.Concat(raw[:at], form, raw[at+32:])
				yield(Alteration{f.With(i, altered), fmt.Sprintf("point %x at byte %d of segment %d", form, at, i)})
			}
		}
	}
}

// formsOf returns the values that may replace a point: the point with the bit flipped that
// X25519 ignores, and both forms of each point of low order.
func formsOf(point []byte) [][]byte {
	ignored := append(make([]byte, 31), 0x80)
	forms := [][]byte{Xor(point, ignored)}
	for _, text := range lowOrder {
		b, err := hex.DecodeString(text)
		if err != nil {
			panic("tokenfmt: bad point " + text)
		}
		forms = append(forms, b, Xor(b, ignored))
	}
	return forms
}

// paddingEnds writes block padding over the last bytes of each segment, and appends it.
func paddingEnds(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, n := range []int{1, 2, 4, 8, 15, 16, 32} {
			zeros := make([]byte, n-1)
			for _, padding := range []struct {
				name string
				end  []byte
			}{
				{"PKCS #7", bytes.Repeat([]byte{byte(n)}, n)},
				{"ISO/IEC 7816-4", slices.Concat([]byte{0x80}, zeros)},
				{"ANSI X9.23", slices.Concat(zeros, []byte{byte(n)})},
				{"zero", make([]byte, n)},
			} {
				if n < len(raw) {
					yield(Alteration{f.With(i, slices.Concat(raw[:len(raw)-n], padding.end)), fmt.Sprintf("the last %d bytes of segment %d as %s padding", n, i, padding.name)})
				}
				yield(Alteration{f.With(i, slices.Concat(raw, padding.end)), fmt.Sprintf("%d bytes of %s padding appended in segment %d", n, padding.name, i)})
			}
		}
	}
}
