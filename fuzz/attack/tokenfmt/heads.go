package tokenfmt

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
)

// asn1Heads returns the heads of an ASN.1 sequence or set in DER (ITU-T X.690) that fills raw.
// BER readers accept longer forms of lengths.
func asn1Heads(raw []byte) (heads []head, ok bool) {
	if len(raw) == 0 || raw[0] != 0x30 && raw[0] != 0x31 {
		return nil, false
	}
	for at := 0; at < len(raw); {
		if at+2 > len(raw) {
			return nil, false
		}
		width := 0
		if raw[at+1] > 0x80 {
			width = int(raw[at+1] & 0x7f)
		}
		if raw[at+1] == 0x80 || width > 4 || at+2+width > len(raw) {
			return nil, false
		}
		n, start := uint64(raw[at+1]), at+2+width
		if width > 0 {
			n = bigEndianNumber(raw[at+2 : start])
		}
		if n > uint64(len(raw)-start) || at == 0 && n != uint64(len(raw)-start) {
			return nil, false
		}
		h := head{from: at, to: start}
		for _, wider := range []int{1, 2, 4} {
			if wider > width && n < 1<<(8*wider) {
				h.longer = append(h.longer, append([]byte{raw[at], 0x80 | byte(wider)}, bigEndian(n, wider)...))
			}
		}
		heads = append(heads, h)
		at = start
		if raw[h.from]&0x20 == 0 { // primitive
			at += int(n)
		}
	}
	return heads, true
}

// countPattern matches the length of a netstring or of a bencode string.
var countPattern = regexp.MustCompile(`^([0-9]{1,9}):`)

// netstringHeads returns the lengths of the netstrings or bencode strings that fill raw.
func netstringHeads(raw []byte) (heads []head, ok bool) {
	for at := 0; at < len(raw); {
		rest := bytes.TrimLeft(raw[at:], ",lde")
		at = len(raw) - len(rest)
		m := countPattern.FindSubmatch(rest)
		if m == nil {
			return heads, len(rest) == 0 && len(heads) > 0
		}
		n, err := strconv.Atoi(string(m[1]))
		if err != nil || n > len(rest)-len(m[0]) {
			return nil, false
		}
		h := head{from: at, to: at + len(m[1])}
		for _, sign := range []string{"0", "00", "+", " "} {
			h.longer = append(h.longer, slices.Concat([]byte(sign), m[1]))
		}
		heads = append(heads, h)
		at += len(m[0]) + n
	}
	return heads, len(heads) > 0
}

// Bounds on a sequence of fields with varint lengths: the number of fields, and of numbers
// before them. The sequence ends at the end of the data, or before a tag of one of the lengths
// in behindRow.
const (
	mostFields  = 8
	mostNumbers = 4
)

var behindRow = []int{0, 12, 16, 20, 32, 64}

// fieldHeads returns the heads of the first sequence of length-prefixed fields in raw, and of
// the numbers before it. All are varints. Other bytes may look like a short sequence.
func fieldHeads(raw []byte) (heads []head, ok bool) {
	for at := 0; at < len(raw) && len(heads) <= mostNumbers; {
		if row := fieldsFrom(raw, at); row != nil {
			return append(heads, row...), true
		}
		_, n := binary.Uvarint(raw[at:])
		if n <= 0 {
			break
		}
		heads = append(heads, overlongHead(raw, at, n))
		at += n
	}
	return nil, false
}

// fieldsFrom returns the heads of the fields of a sequence that begins at offset at.
func fieldsFrom(raw []byte, at int) (row []head) {
	for len(row) < mostFields {
		n, size := binary.Uvarint(raw[at:])
		if size <= 0 || n == 0 || n > uint64(len(raw)-at-size) {
			return nil
		}
		row = append(row, overlongHead(raw, at, size))
		at += size + int(n)
		if slices.Contains(behindRow, len(raw)-at) {
			return row
		}
	}
	return nil
}
