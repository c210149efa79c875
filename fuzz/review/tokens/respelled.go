package tokens

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// Respells reports whether a text differs from a token only in how its readable objects are written: in the order,
// the repetition, the escapes or the case of names, and in white space. Many readers ignore these. The last one of
// several members with one name counts.
func Respells(token, text string) bool {
	one, two := Views(token), Views(text)
	if len(one) == 0 || len(one) != len(two) {
		return false
	}
	bare, other := Segments(token), Segments(text)
	for i, v := range one {
		w := two[i]
		if v.Segment != w.Segment || !bytes.Equal(bytes.TrimSpace(v.Before), bytes.TrimSpace(w.Before)) || !bytes.Equal(bytes.TrimSpace(v.after), bytes.TrimSpace(w.after)) ||
			!reflect.DeepEqual(smallNames(v.Object), smallNames(w.Object)) {
			return false
		}
		if v.Segment < 0 {
			return true
		}
		bare[v.Segment].Text, other[v.Segment].Text = "", "" // compared
	}
	return Replaced(bare, -1, "") == Replaced(other, -1, "")
}

// smallNames returns members with names in small letters, at every depth.
func smallNames(members map[string]json.RawMessage) any {
	var v any
	_ = json.Unmarshal(jsondoc.Object(members), &v) // they were read from JSON
	return withSmallNames(v)
}

func withSmallNames(v any) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, inner := range v {
			all[strings.ToLower(name)] = withSmallNames(inner)
		}
		return all
	case []any:
		for i, inner := range v {
			v[i] = withSmallNames(inner)
		}
	}
	return v
}
