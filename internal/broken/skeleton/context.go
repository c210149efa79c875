package skeleton

import (
	"strconv"
	"time"

	"sealab/codecs"
)

// TextOrEmpty returns *s, or "" if s is nil.
func TextOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// UnixSeconds returns a time in seconds, to the millisecond.
func UnixSeconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// EncodeContext encodes a context with the length of each field before it, so that the encoding is
// unambiguous. An absent field is a minus.
func EncodeContext(b *codecs.Context) string {
	var arguments *string
	if b.Arguments != nil {
		arguments = new(string(b.Arguments))
	}
	var out []byte
	for _, field := range []*string{&b.Method, &b.Target, arguments, b.Principal, b.Audience} {
		if field == nil {
			out = append(out, '-')
			continue
		}
		out = append(strconv.AppendInt(out, int64(len(*field)), 10), ':')
		out = append(out, *field...)
	}
	return string(out)
}

// Shifted returns the context at a time that is later by d.
func Shifted(b *codecs.Context, d time.Duration) *codecs.Context {
	other := *b
	other.Now = b.Now.Add(d)
	return &other
}
