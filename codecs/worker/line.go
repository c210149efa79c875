package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
)

// A line is a JSON object under construction. Its methods append members in the
// order of the calls and keep the first error.
type line struct {
	buf []byte
	err error
}

// usualLineSize is the capacity in bytes that suffices for most lines.
const usualLineSize = 512

func newLine() *line { return &line{buf: make([]byte, 0, usualLineSize)} }

// reset empties the line and keeps its memory.
func (l *line) reset() { *l = line{buf: l.buf[:0]} }

// name begins a member. The first call also begins the object.
func (l *line) name(name string) *line {
	switch {
	case len(l.buf) == 0:
		l.buf = append(l.buf, '{')
	case l.buf[len(l.buf)-1] != '{':
		l.buf = append(l.buf, ',')
	}
	l.buf = append(l.buf, '"')
	l.buf = append(l.buf, name...)
	l.buf = append(l.buf, '"', ':')
	return l
}

// text appends a string. If JSON cannot carry it, the error is
// codecs.ErrUnsupported.
func (l *line) text(name, s string) *line {
	l.name(name)
	l.appendText([]byte(s))
	return l
}

func (l *line) appendText(s []byte) {
	buf, err := appendText(l.buf, s)
	if err != nil {
		l.err = err
		return
	}
	l.buf = buf
}

// token appends a token.
func (l *line) token(token []byte) *line {
	l.name("token")
	l.appendText(token)
	return l
}

// appendTexts appends an array of strings.
func appendTexts[T ~string | ~[]byte](l *line, name string, list []T) *line {
	return l.array(name, len(list), func(i int) { l.appendText([]byte(list[i])) })
}

// bytes appends a string of base64url.
func (l *line) bytes(name string, b []byte) *line {
	l.name(name)
	l.appendBytes(b)
	return l
}

// payload and state append the content of a token in base64url.
func (l *line) payload(b []byte) *line { return l.bytes("payload_b64", b) }
func (l *line) state(b []byte) *line   { return l.bytes("state_b64", b) }

func (l *line) appendBytes(b []byte) {
	l.buf = append(l.buf, '"')
	l.buf = base64url.AppendEncode(l.buf, b)
	l.buf = append(l.buf, '"')
}

// array appends an array of n elements. element appends the i-th one.
func (l *line) array(name string, n int, element func(i int)) *line {
	l.name(name)
	l.buf = append(l.buf, '[')
	for i := range n {
		if i > 0 {
			l.buf = append(l.buf, ',')
		}
		element(i)
	}
	l.buf = append(l.buf, ']')
	return l
}

func (l *line) bool(name string, b bool) *line {
	l.name(name).buf = strconv.AppendBool(l.buf, b)
	return l
}

func (l *line) int(name string, n int64) *line {
	l.name(name).buf = strconv.AppendInt(l.buf, n, 10)
	return l
}

// object appends an object. members appends its members.
func (l *line) object(name string, members func()) *line {
	l.name(name)
	l.element(members)
	return l
}

// element appends an object without a name.
func (l *line) element(members func()) {
	l.buf = append(l.buf, '{')
	members()
	l.buf = append(l.buf, '}')
}

// raw appends JSON unchanged, except that line breaks between values become
// spaces: they would end the line.
func (l *line) raw(name string, value json.RawMessage) *line {
	if !json.Valid(value) || !utf8.Valid(value) {
		l.err = codecs.ErrUnsupported
		return l
	}
	l.name(name)
	start := len(l.buf)
	l.buf = append(l.buf, value...)
	for i, c := range l.buf[start:] {
		if c == '\n' || c == '\r' {
			l.buf[start+i] = ' '
		}
	}
	return l
}

// end returns the finished object.
func (l *line) end() []byte {
	if len(l.buf) == 0 {
		return []byte("{}")
	}
	return slices.Grow(append(l.buf, '}'), 1) // room for the line break
}

// time appends Unix seconds with up to six decimals.
func (l *line) time(name string, t time.Time) *line {
	return l.decimal(name, t.Unix(), t.Nanosecond()/1000)
}

// duration appends seconds with up to six decimals.
func (l *line) duration(name string, d time.Duration) *line {
	micros := d.Microseconds()
	seconds := micros / 1e6
	if micros%1e6 < 0 {
		seconds--
	}
	return l.decimal(name, seconds, int(micros-seconds*1e6))
}

// decimal appends seconds + micros/1e6. micros is from 0 to 999,999.
func (l *line) decimal(name string, seconds int64, micros int) *line {
	l.name(name)
	if seconds < 0 && micros > 0 {
		seconds, micros = seconds+1, 1e6-micros
		if seconds == 0 {
			l.buf = append(l.buf, '-')
		}
	}
	l.buf = strconv.AppendInt(l.buf, seconds, 10)
	if micros > 0 {
		point := len(l.buf)
		l.buf = strconv.AppendInt(l.buf, int64(1e6+micros), 10)
		l.buf[point] = '.' // replaces the 1 that keeps leading zeros
		l.buf = bytes.TrimRight(l.buf, "0")
	}
	return l
}

// parseTime parses a time that line.time wrote. A float64 of current Unix seconds
// is exact to a microsecond.
func parseTime(literal []byte) (time.Time, error) {
	seconds, micros, err := parseSeconds(literal)
	return time.Unix(seconds, micros*1000), err
}

// parseDuration parses a duration that line.duration wrote.
func parseDuration(literal []byte) (time.Duration, error) {
	seconds, micros, err := parseSeconds(literal)
	if seconds > math.MaxInt64/int64(time.Second)-1 || seconds < math.MinInt64/int64(time.Second)+1 {
		return 0, fmt.Errorf("%s seconds are more than 292 years", literal)
	}
	return time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond, err
}

func parseSeconds(literal []byte) (seconds, micros int64, err error) {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || math.Abs(f) > 1e15 {
		return 0, 0, fmt.Errorf("%q is not a number of seconds", literal)
	}
	whole := math.Floor(f)
	return int64(whole), int64(math.Round((f - whole) * 1e6)), nil
}

// Absent is the method or target of a context whose binding lacks that member. A context of an
// application has both, so only a test of a worker uses it.
const Absent = "\x00absent"

// unlessAbsent appends a text, or nothing if the value is Absent.
func (l *line) unlessAbsent(name, value string) *line {
	if value == Absent {
		return l
	}
	return l.text(name, value)
}

// binding appends the binding of a context.
func (l *line) binding(b *codecs.Context) *line {
	return l.object("binding", func() {
		l.unlessAbsent("method", b.Method).unlessAbsent("target", b.Target)
		if b.Arguments != nil {
			l.raw("arguments", b.Arguments)
		}
		if b.Principal != nil {
			l.text("principal", *b.Principal)
		}
		if b.Audience != nil {
			l.text("audience", *b.Audience)
		}
	})
}

// options appends the options of a configuration, sorted by name.
func (l *line) options(options map[string]string) *line {
	return l.object("options", func() {
		for _, name := range slices.Sorted(maps.Keys(options)) {
			quoted, err := json.Marshal(name)
			if err != nil {
				l.err = err
			}
			l.text(string(quoted[1:len(quoted)-1]), options[name])
		}
	})
}
