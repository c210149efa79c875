package mcpd

import (
	"bytes"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/mac"
	"sealab/internal/lab"
)

const (
	signedPrefix = "v1."
	separator    = "."
)

var (
	signedPrefixBytes = []byte(signedPrefix)
	separatorBytes    = []byte(separator)
)

// appendLowerHex appends lower-case hexadecimal without a table, whose look-ups
// would depend on the tag: a presented token may not show the right one.
func appendLowerHex(dst, b []byte) []byte {
	digit := func(n byte) byte { return '0' + n + byte((9-int(n))>>8)&('a'-'0'-10) }
	for _, v := range b {
		dst = append(dst, digit(v>>4), digit(v&15))
	}
	return dst
}

// signed is the mode in which claims are readable.
type signed struct{ *mac.Key }

func newSigned(_ []byte, k *mac.Key) (mode, error) { return signed{k}, nil }

func (signed) seedSize() int { return 0 }

func (s signed) protect(dst, _, claims, _ []byte, edit lab.Edit) ([]byte, error) {
	work := base64url.GetScratch()
	defer work.Free()
	work.Bytes = s.Append(work.Bytes, claims)
	tag := edit.Give(lab.StepTag, work.Bytes)
	dst = slices.Grow(dst, len(signedPrefix)+base64url.EncodedLen(len(claims))+len(separator)+base64url.EncodedLen(len(tag)))
	dst = append(dst, edit.Apply(lab.WirePrefix, signedPrefixBytes)...)
	body := edit.Apply(lab.WireBody, claims)
	dst = edit.Tail(lab.WireText, base64url.AppendEncode(dst, body), len(dst))
	dst = append(dst, edit.Apply(lab.WireSep, separatorBytes)...)
	tag = edit.Apply(lab.WireTag, tag)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, tag), len(dst)), nil
}

func (s signed) open(room *base64url.Scratch, token, _ []byte, decode decoder) ([]byte, *codecs.RejectError) {
	rest, ok := bytes.CutPrefix(token, signedPrefixBytes)
	//mutant:equivalent a dot is no character of base64url, so the segments do not decode
	if !ok || bytes.Count(rest, separatorBytes) != 1 {
		return nil, errMalformed
	}
	body, tag, _ := bytes.Cut(rest, separatorBytes)
	ok = decode(room, body)
	n := len(room.Bytes)
	decoded := decode(room, tag)
	claims, sum := room.Bytes[:n], room.Bytes[n:]
	//mutant:equivalent a text that does not decode leaves no bytes, which are too few
	if !ok || !decoded || len(sum) != mac.Size {
		return nil, errMalformed
	}
	if !s.Verify(sum, claims) {
		return nil, errMAC
	}
	return claims, nil
}
