package tokens

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sealab/fuzz/review/jsondoc"
)

// A View is readable JSON in a token: the whole token, or part of an encoded segment.
type View struct {
	Segment int // -1 if the whole token is JSON
	Object  map[string]json.RawMessage
	// Before and after are the bytes of the segment around the JSON.
	Before, after []byte
}

// maxOpen limits the bytes that are read from a token, and maxNested the depth of nested encodings.
const (
	maxOpen   = 1 << 18
	maxNested = 4
	// maxTag is the number of bytes, such as a tag and a nonce, that may stand before compressed ones.
	maxTag = 96
)

// InTheOpen returns everything that can be read in a token: its text, and the decoded and
// decompressed bytes of its segments. It decodes these bytes recursively.
func InTheOpen(token string) string {
	var b strings.Builder
	unfoldText(&b, token, maxNested)
	return b.String()
}

func unfoldText(b *strings.Builder, text string, depth int) {
	b.WriteString(text)
	for _, s := range Segments(text) {
		if b.Len() > maxOpen {
			continue
		}
		forms := inBase32(s.Text)
		if s.coded {
			raw := s.Raw()
			forms = append(forms, string(raw))
			for skip := range min(maxTag, len(raw)) {
				if out, _ := inflateText(raw[skip:]); out != "" {
					forms = append(forms, out)
				}
			}
		}
		for _, form := range forms {
			b.WriteByte('\n')
			if depth > 1 && utf8.ValidString(form) {
				unfoldText(b, form, depth-1)
			} else {
				b.WriteString(form)
			}
		}
	}
}

// inBase32 returns the bytes of a text in base32, in upper or lower case.
func inBase32(text string) []string {
	text = strings.TrimRight(strings.ToUpper(text), "=")
	for _, code := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
		if raw, err := code.WithPadding(base32.NoPadding).DecodeString(text); err == nil && len(raw) > 0 {
			return []string{string(raw)}
		}
	}
	return nil
}

// A compression is a compression format.
type compression struct {
	open func(io.Reader) (io.Reader, error)
	pack func(io.Writer) io.WriteCloser
}

// compressions are DEFLATE and zlib. Their writers do not fail at these levels.
var compressions = []compression{
	{func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil },
		func(w io.Writer) io.WriteCloser { p, _ := flate.NewWriter(w, flate.BestSpeed); return p }},
	{func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
		func(w io.Writer) io.WriteCloser { p, _ := zlib.NewWriterLevel(w, zlib.BestSpeed); return p }},
}

// inflateText decompresses raw, up to 64 KiB, and returns the text and the index of its packing.
func inflateText(raw []byte) (text string, packed int) {
	for i, p := range compressions {
		r, err := p.open(bytes.NewReader(raw))
		if err != nil {
			continue
		}
		if out, err := io.ReadAll(io.LimitReader(r, 1<<16)); err == nil && len(out) > 16 {
			return string(out), i
		}
	}
	return "", 0
}

// spaceReader is an endless reader of spaces.
type spaceReader struct{}

func (spaceReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Inflating returns tokens in which a compressed part inflates to its content followed by size
// spaces.
func Inflating(token string, size int) []Variant {
	var all []Variant
	segments := Segments(token)
	for _, i := range CodedSegments(segments) {
		raw := segments[i].Raw()
		for skip := range min(maxTag, len(raw)) {
			text, packed := inflateText(raw[skip:])
			if text == "" {
				continue
			}
			var b bytes.Buffer
			b.Write(raw[:skip])
			w := compressions[packed].pack(&b)
			_, _ = io.WriteString(w, text) // a write to memory does not fail
			_, _ = io.CopyN(w, spaceReader{}, int64(size))
			_ = w.Close()
			all = append(all, Variant{Name: fmt.Sprintf("segment %d inflated", i), Text: Replaced(segments, i, segments[i].Write(b.Bytes()))})
			break
		}
	}
	return all
}

// maxBefore is the number of bytes that may precede the JSON in a segment. A tag has up to 64.
const maxBefore = 64

// Views returns the JSON objects that can be read in a token without a key.
func Views(token string) []View {
	if m := jsondoc.Members(json.RawMessage(token)); m != nil {
		return []View{{Segment: -1, Object: m}}
	}
	var all []View
	segments := Segments(token)
	for _, i := range CodedSegments(segments) {
		raw := segments[i].Raw()
		for at := range min(maxBefore+1, len(raw)) {
			if object, rest, ok := jsondoc.Prefix(raw[at:]); ok && len(jsondoc.Members(object)) > 0 {
				all = append(all, View{i, jsondoc.Members(object), raw[:at], rest})
				break
			}
		}
	}
	return all
}

// Write returns the token with the object of the view replaced.
func (v View) Write(token string, object json.RawMessage) string {
	if v.Segment < 0 {
		return string(object)
	}
	all := Segments(token)
	return Replaced(all, v.Segment, all[v.Segment].Write(slices.Concat(v.Before, object, v.after)))
}

// text returns the object of the view as it is written in the token.
func (v View) text(token string) string {
	if v.Segment < 0 {
		return token
	}
	raw := Segments(token)[v.Segment].Raw()
	return string(raw[len(v.Before) : len(raw)-len(v.after)])
}

// Readable returns the text of a token and the decoded bytes of its segments.
func Readable(token string) string {
	var b strings.Builder
	b.WriteString(token)
	for _, s := range Segments(token) {
		if s.coded {
			b.WriteByte('\n')
			b.Write(s.Raw())
		}
	}
	return b.String()
}

// Shows reports whether a token has a readable object other than a JOSE header, or a segment half of which is a
// text with several values. Encrypted tokens have such a header as well (RFC 7516).
func Shows(token string) bool {
	views := Views(token)
	if slices.ContainsFunc(views, func(v View) bool { return v.Object["alg"] == nil || v.Object["enc"] == nil }) {
		return true
	}
	segments := Segments(token)
	return slices.ContainsFunc(CodedSegments(segments), func(i int) bool {
		raw := segments[i].Raw()
		isHeader := slices.ContainsFunc(views, func(v View) bool { return v.Segment == i })
		return !isHeader && len(values.Find(raw)) > len(raw)/2
	})
}

// values matches a text of values between separators, which nested encodings do not have.
var values = regexp.MustCompile(`[ -~]{4,}[ "{}\[\],|;&][ -~]{16,}[ "{}\[\],|;&][ -~]{4,}`)

// longLife is the longest time to live that is not reported.
const longLife = 7 * 24 * time.Hour

// FaultOfTime returns the fault of the expiry time that a readable token states, or "".
func FaultOfTime(token string, now time.Time) string {
	for _, v := range Views(token) {
		if len(v.Before) == 8 && binary.BigEndian.Uint64(v.Before) == 0 {
			return "the time of expiry in the token is zero: it never expires"
		}
	}
	if ttl := TTL(token, now); ttl > longLife {
		return fmt.Sprintf("the token says that it lives for %v", ttl.Round(time.Hour))
	}
	return ""
}

// TTL returns the time to live that a readable token states, or 0.
func TTL(token string, now time.Time) time.Duration {
	for _, v := range Views(token) {
		if len(v.Before) == 8 {
			if left := time.UnixMilli(int64(binary.BigEndian.Uint64(v.Before))).Sub(now); left > 0 && left < 100000*time.Hour {
				return left
			}
		}
		for _, name := range []string{"exp", "expires", "expires_at", "expiresAt", "expiry", "e"} {
			var n float64
			if json.Unmarshal(v.Object[name], &n) != nil || n <= 0 {
				continue
			}
			at := time.Unix(int64(n), 0)
			if n > 1e11 {
				at = time.UnixMilli(int64(n))
			}
			if left := at.Sub(now); left > 0 && left < 100000*time.Hour {
				return left
			}
		}
	}
	return 0
}
