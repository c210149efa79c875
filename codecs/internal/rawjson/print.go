package rawjson

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// A Printer writes values as one implementation does, without white space.
type Printer struct {
	*Quoting
	// Number appends a number, given as its literal.
	Number func(dst, literal []byte) []byte
	// Members returns the members of an object to print, in order.
	Members func([]Member) []Member
}

// AppendValue appends v.
func (p *Printer) AppendValue(dst []byte, v *Value) []byte {
	switch v.Kind {
	case True:
		return append(dst, "true"...)
	case False:
		return append(dst, "false"...)
	case Number:
		return p.Number(dst, v.Text)
	case String:
		return p.Append(dst, v.Text)
	case Array:
		return p.appendArray(dst, v.Items)
	case Object:
		return p.appendObject(dst, p.Members(v.Members))
	default:
		return append(dst, "null"...)
	}
}

func (p *Printer) appendArray(dst []byte, items []Value) []byte {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.AppendValue(dst, &items[i])
	}
	return append(dst, ']')
}

func (p *Printer) appendObject(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(p.Append(dst, members[i].Name), ':')
		dst = p.AppendValue(dst, &members[i].Value)
	}
	return append(dst, '}')
}

// The digits of \u escapes.
const (
	LowerHex = "0123456789abcdef"
	UpperHex = "0123456789ABCDEF"
)

// AppendHex appends the \u escape of r, which must be at most 0xffff.
func AppendHex(dst []byte, r rune, digits string) []byte {
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// AppendHexDigest appends 32 bytes in lower-case hexadecimal. It makes 8 digits
// at a time, one in each byte of a word. A look-up table would leak a secret tag
// through timing.
func AppendHexDigest(dst []byte, digest *[32]byte) []byte {
	const ones = 0x0101010101010101
	for i := 0; i < len(digest); i += 4 {
		x := uint64(binary.BigEndian.Uint32(digest[i:]))
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
		letters := (x + 6*ones) >> 4 & ones
		dst = binary.BigEndian.AppendUint64(dst, x+'0'*ones+('a'-'0'-10)*letters)
	}
	return dst
}

// EscapeByte appends the \u escape of text[at]. It is an escape function for
// NewQuoting.
func EscapeByte(dst, text []byte, at int) ([]byte, int) {
	return AppendHex(dst, rune(text[at]), LowerHex), 1
}

// EscapeRune appends the \u escape of the code point at text[at], or of its two
// surrogates. It is an escape function for NewQuoting.
func EscapeRune(dst, text []byte, at int) ([]byte, int) {
	r, n := DecodeRune(text[at:])
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		dst, r = AppendHex(dst, high, LowerHex), low
	}
	return AppendHex(dst, r, LowerHex), n
}

// inOrder reports whether the names of members are strictly ascending.
func inOrder(members []Member) bool {
	for i := range len(members) - 1 {
		if bytes.Compare(members[i].Name, members[i+1].Name) >= 0 {
			return false
		}
	}
	return true
}

// FirstPlaces keeps each name once, at its first position and with its last
// value.
func FirstPlaces(members []Member) []Member {
	if inOrder(members) {
		return members
	}
	place := make(map[string]int, len(members))
	out := make([]Member, 0, len(members))
	for _, m := range members {
		if i, seen := place[string(m.Name)]; seen {
			out[i] = m
			continue
		}
		place[string(m.Name)] = len(out)
		out = append(out, m)
	}
	return out
}

// ByName sorts members by the code points of their names and keeps the last
// value of each name. Generalised UTF-8 sorts by bytes in the order of code
// points.
func ByName(members []Member) []Member {
	if inOrder(members) {
		return members
	}
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b Member) int { return bytes.Compare(a.Name, b.Name) })
	out := sorted[:0]
	for i, m := range sorted {
		if i+1 < len(sorted) && bytes.Equal(m.Name, sorted[i+1].Name) {
			continue
		}
		out = append(out, m)
	}
	return out
}
