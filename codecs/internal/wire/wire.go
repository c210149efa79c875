// Package wire writes tokens that are sealed step by step: a prefix, and behind
// it base64url without padding (RFC 4648, section 5) of binary fields, joined.
//
// It knows no design and no cryptography. With the nil Edit it copies each value
// once.
package wire

import (
	"slices"

	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// A Layout has the step of each field after the prefix, in order.
type Layout []lab.Step

// Append appends to dst the token of the prefix and the fields' values, one for
// each step of the layout. The edit sees the prefix, each field, and last the
// text of all fields.
func (l Layout) Append(dst []byte, edit lab.Edit, prefix []byte, values ...[]byte) []byte {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	dst = slices.Grow(dst, len(prefix)+base64url.EncodedLen(size))
	dst = append(dst, edit.Apply(lab.WirePrefix, prefix)...)
	room := base64url.GetScratch()
	defer room.Free()
	room.Grow(size)
	for i, step := range l {
		room.Bytes = append(room.Bytes, edit.Apply(step, values[i])...)
	}
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, room.Bytes), len(dst))
}
