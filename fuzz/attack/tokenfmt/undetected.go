package tokenfmt

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/bits"
	"slices"
)

// An undetectedChange is a change to a run of bytes that a checksum does not detect.
type undetectedChange struct {
	sum   string
	apply func(run []byte) bool // reports false if the run does not allow the change
	size  int
}

// crcPolynomials are those of CRCs, without the leading bit.
var crcPolynomials = []struct {
	name string
	bits int
	of   uint64
}{
	{"CRC-8", 8, 0x07}, {"CRC-16", 16, 0x8005}, {"CRC-16-CCITT", 16, 0x1021}, {"CRC-24", 24, 0x864cfb}, {"CRC-32", 32, 0x04c11db7}, {"CRC-32C", 32, 0x1edc6f41},
	{"CRC-64-ISO", 64, 0x1b}, {"CRC-64-ECMA", 64, 0x42f0e1eba9ea3693},
}

// undetectedChanges returns the changes: CRC polynomials in both bit orders, one bit flipped in two
// words, and bytes raised and lowered.
func undetectedChanges() []undetectedChange {
	var all []undetectedChange
	for _, p := range crcPolynomials {
		for _, reflected := range []bool{false, true} {
			mask := make([]byte, p.bits/8+1)
			mask[0] = 0x80
			for k := range p.bits {
				if p.of>>(p.bits-1-k)&1 == 1 {
					mask[(k+1)/8] |= 0x80 >> ((k + 1) % 8)
				}
			}
			if reflected {
				for i, b := range mask {
					mask[i] = bits.Reverse8(b)
				}
			}
			all = append(all, undetectedChange{p.name, func(run []byte) bool { copy(run, Xor(run, mask)); return true }, len(mask)})
		}
	}
	for _, apart := range []int{1, 2, 4, 8, 16, 32, 64} {
		all = append(all, undetectedChange{fmt.Sprintf("an XOR of words of %d bytes", apart), func(run []byte) bool {
			run[0] ^= 1
			run[apart] ^= 1
			return true
		}, apart + 1}, undetectedChange{fmt.Sprintf("a sum of words of %d bytes", apart), addBytes(1, apart, -1), apart + 1})
	}
	for _, base := range []int{31, 33} {
		all = append(all, undetectedChange{fmt.Sprintf("a hash with the factor %d", base), addBytes(1, 1, -base), 2})
	}
	return append(all, undetectedChange{"Fletcher and Adler", func(run []byte) bool {
		return addBytes(1, 1, -1)(run) && addBytes(-1, 1, 1)(run[1:])
	}, 3})
}

// addBytes returns a function that adds first to the first byte of a run, and other to the byte at
// distance apart.
func addBytes(first, apart, other int) func([]byte) bool {
	return func(run []byte) bool {
		a, b := int(run[0])+first, int(run[apart])+other
		if min(a, b) < 0 || max(a, b) > 255 {
			return false
		}
		run[0], run[apart] = byte(a), byte(b)
		return true
	}
}

// Unseen changes bytes of each segment so that a checksum stays the same.
func Unseen(f Format, s *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, p := range undetectedChanges() {
			for _, at := range s.Places(max(0, len(raw)-p.size), 4) {
				if altered := bytes.Clone(raw); at+p.size <= len(raw) && p.apply(altered[at:at+p.size]) {
					yield(Alteration{f.With(i, altered), fmt.Sprintf("%d bytes at byte %d of segment %d changed so that %s stays the same", p.size, at, i, p.sum)})
				}
			}
		}
	}
}

// blockLengths are lengths in bytes of blocks that programs hash separately.
var blockLengths = []int{8, 10, 16, 20, 24, 32, 40, 48, 50, 64, 72, 80, 96, 100, 128, 136, 144, 200, 250, 255, 256, 500, 512, 1000, 1024, 2000, 2048, 4000, 4096, 5000, 8000, 8192, 10000, 16384}

// Moved finds the byte alone within a run of the byte around and moves it by the length of a
// block. The blocks are then the same, in another order.
func Moved(f Format, alone, around byte) Alterations {
	run := bytes.Repeat([]byte{around}, 8)
	return func(yield func(Alteration)) {
		for i, raw := range f.EncodedBytes() {
			at := bytes.Index(raw, slices.Concat(run, []byte{alone}, run)) + len(run)
			if at < len(run) {
				continue
			}
			for _, n := range blockLengths {
				if to := at + n; to < len(raw) && raw[to] == around {
					altered := bytes.Clone(raw)
					altered[at], altered[to] = around, alone
					yield(Alteration{f.With(i, altered), fmt.Sprintf("byte %d of segment %d moved by a block of %d bytes", at, i, n)})
				}
			}
		}
	}
}

// MovedSeparators moves each separator by up to six characters to the left and three to the
// right. It moves only the first 16 separators.
func MovedSeparators(f Format, _ *Source, yield func(Alteration)) {
	const most = 16
	text, met := f.Text(), 0
	for at, c := range text {
		if isEncodingLetter[c] || met == most {
			continue
		}
		met++
		for _, by := range []int{-6, -5, -4, -3, -2, -1, 1, 2, 3} {
			to := at + by
			if to < 0 || to >= len(text) {
				continue
			}
			altered := slices.Insert(slices.Delete(bytes.Clone(text), at, at+1), to, c)
			yield(Alteration{altered, fmt.Sprintf("the separator at character %d moved by %d", at, by)})
		}
	}
}

// mostDigits is the largest number of digits that MovedDigits moves.
const mostDigits = 4

// MovedDigits moves digits between the bytes of a segment and a number in a neighboring
// segment. If the decoded bytes and the number are authenticated without a separator, the tag
// does not change.
func MovedDigits(f Format, _ *Source, yield func(Alteration)) {
	for i, s := range f.Segments {
		for _, j := range []int{i - 2, i + 2} { // with a separator in between
			if !s.Encoded() || j < 0 || j >= len(f.Segments) || !isNumber([]byte(f.Segments[j].Text)) {
				continue
			}
			for n := 1; n <= mostDigits; n++ {
				for _, moved := range moveDigits(s.Bytes, f.Segments[j].Text, n, j > i) {
					altered := f.Altered(i, moved[0]).WithText(j, string(moved[1]))
					yield(Alteration{altered, fmt.Sprintf("%d digits moved between segment %d and the number %s", n, i, f.Segments[j].Text)})
				}
			}
		}
	}
}

// moveDigits moves n digits from raw to a number after or before it, and back.
func moveDigits(raw []byte, number string, n int, behind bool) (moved [][2][]byte) {
	if at := len(raw) - n; at >= 0 && behind && isNumber(raw[at:]) {
		moved = append(moved, [2][]byte{raw[:at], append(bytes.Clone(raw[at:]), number...)})
	}
	if n <= len(raw) && !behind && isNumber(raw[:n]) {
		moved = append(moved, [2][]byte{raw[n:], append([]byte(number), raw[:n]...)})
	}
	switch at := len(number) - n; {
	case at < 1:
	case behind:
		moved = append(moved, [2][]byte{append(bytes.Clone(raw), number[:n]...), []byte(number[n:])})
	default:
		moved = append(moved, [2][]byte{append([]byte(number[at:]), raw...), []byte(number[:at])})
	}
	return moved
}

// isNumber reports whether text is one to twenty decimal digits.
func isNumber(text []byte) bool {
	return len(text) > 0 && len(text) <= 20 && len(bytes.Trim(text, "0123456789")) == 0
}

// Parted moves up to 48 bytes before a tag at the end of the token to a new segment after it,
// which readers may treat as optional.
func Parted(f Format, _ *Source, yield func(Alteration)) {
	last, ok := f.LastEncoded()
	if !ok {
		return
	}
	s, sep := f.Segments[last], string(separatorOf(f.Before(last)))
	for _, tag := range []int{16, 32} {
		end := len(s.Bytes) - tag
		for n := 1; n <= min(48, end); n++ {
			text := f.With(last, slices.Concat(s.Bytes[:end-n], s.Bytes[end:]))
			yield(Alteration{append(text, sep+s.Encoding.Encode(s.Bytes[end-n:end])...), fmt.Sprintf("%d bytes in front of a tag of %d moved to a segment behind it", n, tag)})
		}
	}
}

// Chained appends a part to the token and computes the next tag of a chain, in which each tag
// is the key for the next part. An attacker who has a tag can continue such a chain.
func Chained(f Format, parts ...[]byte) Alterations {
	return func(yield func(Alteration)) {
		at := f.Encoded()
		if len(at) == 0 {
			return
		}
		last := f.Segments[at[len(at)-1]]
		head := f.Before(at[len(at)-1])
		for _, m := range MACs {
			for _, part := range parts {
				text := last.Encoding.Encode(part)
				for _, message := range [][]byte{part, []byte(text)} {
					if sum := m.Sum(last.Bytes, message); len(sum) >= len(last.Bytes) && len(at) > 1 {
						tag := last.Encoding.Encode(sum[:len(last.Bytes)])
						yield(Alteration{slices.Concat(head, []byte(text), separatorOf(head), []byte(tag)), fmt.Sprintf("%d bytes appended under %s with the tag as its key", len(part), m.Name)})
					}
				}
				for _, n := range []int{md5.Size, sha1.Size, sha256.Size, sha512.Size} {
					if n >= len(last.Bytes) {
						continue
					}
					body, tag := last.Bytes[:len(last.Bytes)-n], last.Bytes[len(last.Bytes)-n:]
					if sum := m.Sum(tag, part); len(sum) == n {
						yield(Alteration{f.With(at[len(at)-1], slices.Concat(body, part, sum)), fmt.Sprintf("%d bytes appended under %s with the last %d bytes as its key", len(part), m.Name, n)})
					}
				}
			}
		}
	}
}

// separatorOf returns the separator at the end of a text.
func separatorOf(head []byte) []byte {
	n := len(head)
	for n > 0 && !isEncodingLetter[head[n-1]] {
		n--
	}
	return head[n:]
}
