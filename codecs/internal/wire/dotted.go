package wire

import (
	"bytes"
	"fmt"

	"sealab/codecs/internal/base64url"
	"sealab/internal/lab"
)

// Separator stands between the segments of a dotted token.
const Separator = "."

var separator = []byte(Separator)

// AppendSeparator appends the separator, which the edit sees.
func AppendSeparator(dst []byte, edit lab.Edit) []byte {
	return append(dst, edit.Apply(lab.WireSep, separator)...)
}

// AppendSegment appends the base64url text of a value. The edit sees the value as
// the given step, and its text.
func AppendSegment(dst []byte, edit lab.Edit, step lab.Step, value []byte) []byte {
	value = edit.Apply(step, value)
	return edit.Tail(lab.WireText, base64url.AppendEncode(dst, value), len(dst))
}

// ParseDotted parses a token of the form prefix || segment || "." || segment ...,
// whose segments are canonical base64url of the named fields. All but the last,
// the tag, are readable.
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
