package tokenfmt

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A head is the part of binary data that precedes a value: its type and its length.
type head struct {
	from, to int
	longer   [][]byte // other bytes that lenient readers treat as equal
}

// BinaryForms rewrites the heads of values in longer forms, one at a time, and adds members and fields
// that a reader of the format skips. It applies to segments in CBOR (RFC 8949), MessagePack,
// protobuf and ASN.1, and to sequences of netstrings or of length-prefixed fields.
func BinaryForms(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		put := func(from, to int, with []byte, how string) {
			yield(Alteration{f.With(i, slices.Concat(raw[:from], with, raw[to:])), fmt.Sprintf("%s in segment %d", how, i)})
		}
		for _, b := range binaryFormats {
			heads, ok := b.heads(raw)
			if !ok {
				continue
			}
			for _, h := range heads {
				for _, longer := range h.longer {
					put(h.from, h.to, longer, fmt.Sprintf("the head of %s at byte %d written as %x", b.name, h.from, longer))
				}
			}
			for _, more := range b.skipped {
				put(0, 0, more, fmt.Sprintf("%x in front of %s", more, b.name))
				put(len(raw), len(raw), more, fmt.Sprintf("%x behind %s", more, b.name))
			}
		}
	}
}

// binaryFormats are the formats. skipped holds bytes that a reader of the format skips: a tag that
// means "this is CBOR", and unknown protobuf fields, as a number and as text.
var binaryFormats = []struct {
	name    string
	heads   func(raw []byte) ([]head, bool)
	skipped [][]byte
}{
	{"CBOR", cborHeads, [][]byte{{0xd9, 0xd9, 0xf7}}},
	{"MessagePack", msgpackHeads, nil},
	{"protobuf", protobufHeads, [][]byte{{0x78, 0x01}, {0x7a, 0x00}, {0xf8, 0x07, 0x00}}},
	{"ASN.1", asn1Heads, nil},
	{"netstrings", netstringHeads, nil},
	{"fields", fieldHeads, nil},
}

// cborHeads returns the heads of a CBOR item that fills raw.
func cborHeads(raw []byte) (heads []head, ok bool) {
	at, composed := 0, false
	for items := uint64(1); items > 0; items-- {
		if at >= len(raw) || items > uint64(len(raw)) {
			return nil, false
		}
		kind, low := raw[at]>>5, raw[at]&31
		n, arg := 1, uint64(low)
		if low > 27 {
			return nil, false
		}
		if low >= 24 {
			width := 1 << (low - 24)
			if at+1+width > len(raw) {
				return nil, false
			}
			n, arg = 1+width, bigEndianNumber(raw[at+1:at+1+width])
		}
		h := head{from: at, to: at + n}
		for wider := max(low+1, 24); wider <= 27; wider++ {
			h.longer = append(h.longer, append([]byte{kind<<5 | wider}, bigEndian(arg, 1<<(wider-24))...))
		}
		at += n
		switch kind {
		case 2, 3:
			if arg > uint64(len(raw)-at) {
				return nil, false
			}
			at += int(arg)
		case 4:
			items += arg
		case 5:
			items += 2 * arg
			if low < 23 { // one more member, under the key 0 or "", which comes before every other key
				h.longer = append(h.longer, []byte{kind<<5 | (low + 1), 0x00, 0x00}, []byte{kind<<5 | (low + 1), 0x60, 0x00})
			}
		case 6:
			items++
		}
		composed = composed || kind >= 2 && kind <= 6
		heads = append(heads, h)
	}
	return heads, at == len(raw) && composed
}

// msgpackForms are the types of MessagePack with a length: the type byte of the shortest form,
// the number of length bits in it, and the type bytes of the forms with a length of 1, 2 and 4
// bytes. 0 means that the form does not exist.
var msgpackForms = []struct {
	short, bits byte
	wide        [3]byte
	items       int // values per unit of length; 0 if the length counts bytes
}{
	{0xa0, 5, [3]byte{0xd9, 0xda, 0xdb}, 0}, {0, 0, [3]byte{0xc4, 0xc5, 0xc6}, 0},
	{0x90, 4, [3]byte{0, 0xdc, 0xdd}, 1}, {0x80, 4, [3]byte{0, 0xde, 0xdf}, 2},
}

// msgpackHeads returns the heads of a MessagePack value that fills raw.
func msgpackHeads(raw []byte) (heads []head, ok bool) {
	at, composed := 0, false
	for values := 1; values > 0; values-- {
		if at >= len(raw) || values > len(raw) {
			return nil, false
		}
		n, size, more, longer := msgpackHead(raw[at:])
		if n == 0 || size > len(raw)-at-n || more > len(raw) {
			return nil, false
		}
		heads = append(heads, head{at, at + n, longer})
		composed = composed || size > 0 || more > 0
		at += n + size
		values += more
	}
	return heads, at == len(raw) && composed
}

// msgpackHead parses the head of a value. It returns the length of the head, the number of
// bytes and of values in the content, and the longer forms of the head. The length of an
// unknown head is 0.
func msgpackHead(raw []byte) (n, size, values int, longer [][]byte) {
	c := raw[0]
	for _, f := range msgpackForms {
		width, count := -1, uint64(0)
		if f.bits > 0 && c>>f.bits == f.short>>f.bits {
			width, count = 0, uint64(c&(1<<f.bits-1))
		}
		for k, wide := range f.wide {
			if wide != 0 && c == wide && len(raw) > 1<<k {
				width, count = 1<<k, bigEndianNumber(raw[1:1+1<<k])
			}
		}
		if width < 0 || count > 1<<30 {
			continue
		}
		for k, wide := range f.wide {
			if wide != 0 && 1<<k > width {
				longer = append(longer, append([]byte{wide}, bigEndian(count, 1<<k)...))
			}
		}
		if f.items == 0 {
			return 1 + width, int(count), 0, longer
		}
		return 1 + width, 0, f.items * int(count), longer
	}
	switch {
	case c < 0x80:
		return 1, 0, 0, [][]byte{{0xcc, c}, {0xcd, 0, c}, {0xd0, c}}
	case c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3:
		return 1, 0, 0, nil
	case c >= 0xcc && c <= 0xd3: // numbers of 1, 2, 4 and 8 bytes
		return 1 + 1<<(c&3), 0, 0, nil
	case c == 0xca, c == 0xcb:
		return 1 + 4<<(c&1), 0, 0, nil
	}
	return 0, 0, 0, nil
}

// protobufHeads returns the heads of the fields of a protobuf message that fills raw.
func protobufHeads(raw []byte) (heads []head, ok bool) {
	for at := 0; at < len(raw); {
		tag, n := binary.Uvarint(raw[at:])
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<12 {
			return nil, false
		}
		heads = append(heads, overlongHead(raw, at, n))
		at += n
		value, n := binary.Uvarint(raw[at:])
		if kind := tag & 7; kind == 0 || kind == 2 {
			if n <= 0 {
				return nil, false
			}
			heads = append(heads, overlongHead(raw, at, n))
			at += n
			if kind == 2 {
				if value > uint64(len(raw)-at) {
					return nil, false
				}
				at, ok = at+int(value), true
			}
			continue
		}
		size := map[uint64]int{1: 8, 5: 4}[tag&7]
		if size == 0 || at+size > len(raw) {
			return nil, false
		}
		at += size
	}
	return heads, ok
}

// overlongHead returns the head of a number in groups of 7 bits, with longer forms that add zero
// groups.
func overlongHead(raw []byte, at, n int) head {
	open := slices.Clone(raw[at : at+n])
	open[n-1] |= 0x80
	return head{at, at + n, [][]byte{append(slices.Clip(open), 0), append(slices.Clip(open), 0x80, 0)}}
}

// bigEndianNumber reads a big-endian number of up to 8 bytes.
func bigEndianNumber(raw []byte) (n uint64) {
	for _, b := range raw {
		n = n<<8 | uint64(b)
	}
	return n
}

// bigEndian encodes n as a big-endian number of the given size.
func bigEndian(n uint64, bytes int) []byte { return binary.BigEndian.AppendUint64(nil, n)[8-bytes:] }
