package layouts

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// A Layout lists the step of each field after the prefix.
type Layout []lab.Step

// Append appends to dst the token of the prefix and the values, one for each
// step of the layout. edit is applied to the prefix, to each field, and last to
// the text of all fields.
func (l Layout) Append(dst []byte, edit lab.Edit, prefix []byte, values ...[]byte) []byte {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	dst = slices.Grow(dst, len(prefix)+base64url.EncodedLen(size))
	dst = append(dst, edit.Apply(lab.WirePrefix, prefix)...)
	room := base64url.GetInner()
	defer room.Free()
	room.Grow(size)
	for i, step := range l {
		room.Bytes = append(room.Bytes, edit.Apply(step, values[i])...)
	}
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, room.Bytes), len(dst))
}

// A Mint mints a token step by step under a seed.
type Mint[S codecs.Scheme] func(s S, dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error)

// SchemeForLab returns the function that opens a catalog row: it wraps the
// scheme from open so that internal/lab can mint step by step with mint. A seed
// has seedSize bytes. The scheme itself has no such methods.
func SchemeForLab[S codecs.Scheme](open func(codecs.Config) (S, error), seedSize int, mint Mint[S]) func(codecs.Config) (codecs.Scheme, error) {
	return func(c codecs.Config) (codecs.Scheme, error) {
		s, err := open(c)
		if err != nil {
			return nil, err
		}
		return Assemble(s, seedSize, mint), nil
	}
}

// Assemble wraps a scheme so that internal/lab can mint step by step with mint.
func Assemble[S codecs.Scheme](s S, seedSize int, mint Mint[S]) codecs.Scheme {
	return schemeAssembler[S]{s, s, seedSize, mint}
}

// A schemeAssembler is a scheme with the methods that internal/lab needs.
type schemeAssembler[S codecs.Scheme] struct {
	codecs.Scheme
	scheme   S
	seedSize int
	mint     Mint[S]
}

// SeedSize implements lab.SeededScheme.
func (a schemeAssembler[S]) SeedSize() int { return a.seedSize }

// MintSeeded implements lab.SeededScheme.
func (a schemeAssembler[S]) MintSeeded(dst, seed, state []byte, c *codecs.Context) ([]byte, error) {
	return a.MintEdited(dst, seed, state, c, nil)
}

// MintEdited implements lab.SchemeAssembler.
func (a schemeAssembler[S]) MintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != a.seedSize {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), a.seedSize)
	}
	return a.mint(a.scheme, dst, seed, state, c, edit)
}

// Separator separates the segments of a dotted token.
const Separator = "."

var separator = []byte(Separator)

// LastSeparator returns the index of the last separator, or -1. It is fastest if
// the last segment is a tag of 32 bytes.
func LastSeparator(text []byte) int {
	end := len(text) - base64url.EncodedLen(32)
	if end > 0 && text[end-1] == Separator[0] && bytes.IndexByte(text[end:], Separator[0]) < 0 {
		return end - 1
	}
	return bytes.LastIndexByte(text, Separator[0])
}

// AppendSeparator appends the separator after applying edit.
func AppendSeparator(dst []byte, edit lab.Edit) []byte {
	return append(dst, edit.Apply(lab.WireSep, separator)...)
}

// AppendSegment appends a value in base64url. edit is applied to the value, as
// the given step, and to its text.
func AppendSegment(dst []byte, edit lab.Edit, step lab.Step, value []byte) []byte {
	value = edit.Apply(step, value)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, value), len(dst))
}

// A Piece is a field in a joined token. The body takes all bytes that the
// others leave.
type Piece struct {
	Name     lab.Step
	Bytes    int // for the body: the minimum
	Readable bool
}

// ParseJoined parses a token of the form prefix || base64url(pieces). The text
// must be canonical.
func ParseJoined(prefix string, token []byte, pieces ...Piece) ([]lab.Field, error) {
	least := 0
	for _, p := range pieces {
		least += p.Bytes
	}
	text, raw, err := base64url.Parse(prefix, least, token)
	if err != nil {
		return nil, err
	}
	fields := []lab.Field{{Name: lab.WirePrefix, Wire: []byte(prefix), Bytes: []byte(prefix), Readable: true}}
	spare := len(raw) - least
	for _, p := range pieces {
		n := p.Bytes
		if p.Name == lab.WireBody {
			n += spare
		}
		fields = append(fields, lab.Field{Name: p.Name, Wire: text, Bytes: raw[:n], Readable: p.Readable})
		text, raw = nil, raw[n:]
	}
	return fields, nil
}

// ParseDotted parses a token of the form prefix || segment || "." || segment
// ... The segments must be canonical base64url of the named fields. All but the
// last, the tag, are readable.
func ParseDotted(prefix string, token []byte, names ...lab.Step) ([]lab.Field, error) {
	rest, ok := bytes.CutPrefix(token, []byte(prefix))
	if !ok {
		return nil, fmt.Errorf("the token does not begin with %q", prefix)
	}
	segments := bytes.Split(rest, separator)
	if len(segments) != len(names) {
		return nil, fmt.Errorf("the token has %d segments, want %d", len(segments), len(names))
	}
	var fields []lab.Field
	if prefix != "" {
		fields = append(fields, lab.Field{Name: lab.WirePrefix, Wire: []byte(prefix), Bytes: []byte(prefix), Readable: true})
	}
	for i, segment := range segments {
		if i > 0 {
			fields = append(fields, lab.Field{Name: lab.WireSep, Wire: separator, Bytes: separator, Readable: true})
		}
		value, ok := base64url.AppendDecode(nil, segment)
		if !ok {
			return nil, fmt.Errorf("segment %d of the token is not canonical base64url", i+1)
		}
		fields = append(fields, lab.Field{Name: names[i], Wire: segment, Bytes: value, Readable: i < len(names)-1})
	}
	return fields, nil
}
