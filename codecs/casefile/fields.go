package casefile

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"sealab/codecs/internal/rawjson"
)

// field returns a field that the line must have.
func (l line) field(name string) (*rawjson.Value, error) {
	v := l.object.Lookup(name)
	if v == nil {
		return nil, fmt.Errorf("the line has no field %q", name)
	}
	return v, nil
}

// text returns a field that is a string.
func (l line) text(name string) (string, error) {
	v, err := l.field(name)
	if err != nil {
		return "", err
	}
	if v.Kind != rawjson.String {
		return "", fmt.Errorf("field %q is %.40s, want a string", name, v.Raw)
	}
	return string(v.Text), nil
}

// optional returns a field that is a string or null, nil for null.
func (l line) optional(name string) (*string, error) {
	v, err := l.field(name)
	if err != nil || v.Kind == rawjson.Null {
		return nil, err
	}
	text, err := l.text(name)
	return &text, err
}

// truth returns a field that is true or false.
func (l line) truth(name string) (bool, error) {
	v, err := l.field(name)
	if err != nil {
		return false, err
	}
	if v.Kind != rawjson.True && v.Kind != rawjson.False {
		return false, fmt.Errorf("field %q is %.40s, want true or false", name, v.Raw)
	}
	return v.Kind == rawjson.True, nil
}

// moment returns a field that is a time in Unix seconds.
func (l line) moment(name string) (time.Time, error) {
	v, err := l.field(name)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseFloat(string(v.Text), 64)
	if v.Kind != rawjson.Number || err != nil || math.Abs(seconds) > 1<<53 {
		return time.Time{}, fmt.Errorf("field %q is %.40s, want a time in Unix seconds", name, v.Raw)
	}
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64(math.Round((seconds-whole)*1e9))), nil
}

// secret returns the key of a field, as a ring of one.
func (l line) secret(name string) ([][]byte, error) {
	v, err := l.field(name)
	if err != nil {
		return nil, err
	}
	return secrets(name, []rawjson.Value{*v})
}

// ring returns the keys of a field that is a list.
func (l line) ring(name string) ([][]byte, error) {
	v, err := l.field(name)
	if err != nil {
		return nil, err
	}
	if v.Kind != rawjson.Array {
		return nil, fmt.Errorf("field %q is no list of keys", name)
	}
	return secrets(name, v.Items)
}

// secrets decodes keys. Its errors do not quote them.
func secrets(name string, items []rawjson.Value) ([][]byte, error) {
	ring := make([][]byte, 0, len(items))
	for i := range items {
		secret, err := hex.DecodeString(string(items[i].Text))
		if items[i].Kind != rawjson.String || err != nil {
			return nil, fmt.Errorf("field %q: key %d of %d is not hexadecimal text", name, i+1, len(items))
		}
		ring = append(ring, secret)
	}
	return ring, nil
}
