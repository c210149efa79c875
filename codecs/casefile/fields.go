package casefile

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"sealab/codecs/internal/rawjson"
)

// A line is a parsed line of a case file. Its methods keep the first error; a
// wrong field reads as its zero value.
type line struct {
	raw    string
	object rawjson.Value
	err    error
}

// fail records an error.
func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf(format, args...)
	}
}

// field returns a required field, or null if it is missing.
func (l *line) field(name string) *rawjson.Value {
	v := l.object.Lookup(name)
	if v == nil {
		l.fail("the line has no field %q", name)
		return new(rawjson.Value)
	}
	return v
}

// text returns a field that is a string.
func (l *line) text(name string) string {
	v := l.field(name)
	if v.Kind != rawjson.String {
		l.fail("field %q is %.40s, want a string", name, v.Raw)
	}
	return string(v.Text)
}

// optional returns a field that is a string or null, as nil if it is null.
func (l *line) optional(name string) *string {
	if l.field(name).Kind == rawjson.Null {
		return nil
	}
	return new(l.text(name))
}

// truth returns a field that is true or false.
func (l *line) truth(name string) bool {
	v := l.field(name)
	if v.Kind != rawjson.True && v.Kind != rawjson.False {
		l.fail("field %q is %.40s, want true or false", name, v.Raw)
	}
	return v.Kind == rawjson.True
}

// moment returns a field that is a time in Unix seconds.
func (l *line) moment(name string) time.Time {
	v := l.field(name)
	seconds, err := strconv.ParseFloat(string(v.Text), 64)
	if v.Kind != rawjson.Number || err != nil || math.Abs(seconds) > 1<<53 {
		l.fail("field %q is %.40s, want a time in Unix seconds", name, v.Raw)
		return time.Time{}
	}
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(math.Round((seconds-whole)*1e9)))
}

// secret returns the key in a field, as a ring of one.
func (l *line) secret(name string) [][]byte { return l.secrets(name, []rawjson.Value{*l.field(name)}) }

// ring returns the keys in a field that is a list.
func (l *line) ring(name string) [][]byte {
	v := l.field(name)
	if v.Kind != rawjson.Array {
		l.fail("field %q is no list of keys", name)
	}
	return l.secrets(name, v.Items)
}

// secrets decodes keys. Its errors do not quote them.
func (l *line) secrets(name string, items []rawjson.Value) [][]byte {
	ring := make([][]byte, 0, len(items))
	for i := range items {
		secret, err := hex.DecodeString(string(items[i].Text))
		if items[i].Kind != rawjson.String || err != nil {
			l.fail("field %q: key %d of %d is not hexadecimal text", name, i+1, len(items))
		}
		ring = append(ring, secret)
	}
	return ring
}
