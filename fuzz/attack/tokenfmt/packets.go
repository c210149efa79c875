package tokenfmt

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A packetForm writes a length in front of each packet.
type packetForm struct {
	name string
	// next returns the length of the first packet of a text with all that belongs to it.
	next  func(raw []byte) (int, bool)
	empty string // a packet without content
}

// packetForms are the usual forms of packets. Git (gitprotocol-common) calls the empty packet of the first one a
// flush packet. The numbers have the higher byte first.
var packetForms = []packetForm{
	{"four hexadecimal digits, which count themselves", func(raw []byte) (int, bool) {
		if len(raw) < 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(string(raw[:4]), 16, 16)
		return int(n), err == nil && n >= 4
	}, "0000"},
	{"a netstring", func(raw []byte) (int, bool) {
		digits, _, ok := bytes.Cut(raw[:min(len(raw), 6)], []byte(":"))
		n, err := strconv.ParseUint(string(digits), 10, 16)
		return len(digits) + 1 + int(n) + 1, ok && err == nil
	}, "0:,"},
	{"one byte", numbered(1), "\x00"},
	{"two bytes", numbered(2), "\x00\x00"},
	{"four bytes", numbered(4), "\x00\x00\x00\x00"},
}

// numbered returns the next function of packets behind a number of some bytes.
func numbered(size int) func(raw []byte) (int, bool) {
	return func(raw []byte) (int, bool) {
		if len(raw) < size {
			return 0, false
		}
		var n uint32
		for _, b := range raw[:size] {
			n = n<<8 | uint32(b)
		}
		return size + int(min(n, math.MaxInt16<<8)), true // longer than any token that is attacked
	}
}

// borders returns the places between the packets of raw, with its start and end, or nil if it is not made of
// at least two packets.
func (p packetForm) borders(raw []byte) []int {
	all := []int{0}
	for at := 0; at < len(raw); {
		n, ok := p.next(raw[at:])
		if at += n; !ok || at > len(raw) {
			return nil
		}
		all = append(all, at)
	}
	if len(all) < 3 {
		return nil
	}
	return all
}

// EmptyPackets inserts an empty packet at each border of segments that are made of packets. A reader may skip
// it.
func EmptyPackets(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, form := range packetForms {
			for _, at := range form.borders(raw) {
				yield(Alteration{f.With(i, slices.Insert(bytes.Clone(raw), at, []byte(form.empty)...)),
					fmt.Sprintf("an empty packet behind the first %d bytes of segment %d, in the form of %s", at, i, form.name)})
			}
		}
	}
}
