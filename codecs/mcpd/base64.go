package mcpd

import "sealab/codecs/internal/base64url"

// A decoder appends the bytes of a segment to room.
type decoder func(room *base64url.Scratch, segment []byte) bool

// canonical decodes a segment if it is canonical.
func canonical(room *base64url.Scratch, segment []byte) bool { return room.Decode(segment) }

// lenient decodes as std.base64.Base64URLNoPadding of Phobos does. Spare bits of
// the last character are not looked at. A NUL, which stands there for the padding
// that this variant does not have, is read as -1: as the first character of a
// group it is another _, as the second it also sets the two low bits of the first,
// and inside a whole group it ends the decoding, which kills a checked build.
func lenient(room *base64url.Scratch, segment []byte) bool {
	if canonical(room, segment) { // most are
		return true
	}
	const group = 4
	room.Grow(base64url.DecodedLen(len(segment)))
	out := room.Bytes
	for len(segment) > 0 {
		n := min(group, len(segment))
		var v [group]int
		for i, c := range segment[:n] {
			v[i] = values[c]
			if v[i] == none || v[i] == nul && n == group && i >= 2 {
				return false
			}
		}
		switch n {
		case 1:
			return false
		case 2:
			out = append(out, byte(v[0]<<2|v[1]>>4))
		case 3:
			out = append(out, byte(v[0]<<2|v[1]>>4), byte(v[1]<<4|v[2]>>2))
		default:
			out = append(out, byte(v[0]<<2|v[1]>>4), byte(v[1]<<4|v[2]>>2), byte(v[2]<<6|v[3]))
		}
		segment = segment[n:]
	}
	room.Bytes = out
	return true
}

const (
	nul  = -1 // value of a NUL in Phobos
	none = -2 // not a character of the alphabet
)

// values maps characters to their values.
var values = func() (t [256]int) {
	for c := range t {
		t[c] = none
	}
	t[0] = nul
	for v, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
		t[c] = v
	}
	return t
}()
