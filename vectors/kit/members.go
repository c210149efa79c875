package kit

import (
	"bytes"
	"encoding/json"
)

// A Member is one member of a JSON object, as raw text.
type Member struct{ Name, Value string }

// Members splits a JSON object into its members and keeps the text of their
// values. It reports false if text is not one object.
func Members(text []byte) ([]Member, bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	var members []Member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		members = append(members, Member{name.(string), string(value)})
	}
	_, err := d.Token()
	return members, err == nil && d.InputOffset() == int64(len(text))
}

// Object is the inverse of Members. The result is compact and keeps the given
// order.
func Object(members []Member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '"')
		out = append(out, m.Name...)
		out = append(out, `":`...)
		out = append(out, m.Value...)
	}
	return append(out, '}')
}
