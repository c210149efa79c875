package claims

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

const (
	label      = "sealab/claims/v2"
	saltSize   = 16
	digestSize = 16
)

// A digest is the salted digest of a context.
type digest [digestSize]byte

// equals compares digests in constant time.
func (d *digest) equals(other []byte) bool { return subtle.ConstantTimeCompare(d[:], other) == 1 }

// Bits that tell which parts of a context are present.
const (
	hasArguments = 1 << iota
	hasAudience
	hasPrincipal
)

// contextSize returns the maximum number of bytes that digestOf writes.
// Arguments with DEL may exceed it: only DEL has an escape more than three
// times as long.
func contextSize(c *codecs.Context) int {
	n := len(label) + saltSize + 1 + 4*binary.MaxVarintLen64 + len(c.Method) + len(c.Target) + 3*len(c.Arguments)
	if c.Audience != nil {
		n += len(*c.Audience)
	}
	if c.Principal != nil {
		n += len(*c.Principal)
	}
	return n
}

// digestOf returns the digest of a context. It uses the spare capacity of room
// if there is enough, and clears the bytes that it wrote. It fails if the
// arguments are not JSON.
func digestOf(room, salt []byte, c *codecs.Context) (digest, error) {
	start := len(room)
	room = slices.Grow(room, contextSize(c))
	text, err := appendContext(room, salt, c)
	if err != nil || cap(text) != cap(room) { // more bytes than text were written, or text moved
		defer clear(room[start:cap(room)])
	}
	if err != nil {
		return digest{}, err
	}
	defer clear(text[start:min(len(text)+rawjson.Slack, cap(text))])
	sum := sha256.Sum256(text[start:])
	return digest(sum[:]), nil
}

// appendContext appends the text that is digested for a context.
func appendContext(dst, salt []byte, c *codecs.Context) ([]byte, error) {
	dst = append(append(dst, label...), salt...)
	at := len(dst)
	dst = appendText(appendText(append(dst, 0), c.Method), c.Target)
	if c.Audience != nil {
		dst[at] |= hasAudience
		dst = appendText(dst, *c.Audience)
	}
	if c.Principal != nil {
		dst[at] |= hasPrincipal
		dst = appendText(dst, *c.Principal)
	}
	if c.Arguments == nil {
		return dst, nil
	}
	dst[at] |= hasArguments
	return compactjson.AppendExact(dst, c.Arguments)
}

// appendText appends the length of a text and the text.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
