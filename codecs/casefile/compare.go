package casefile

import (
	"bytes"

	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/rawjson"
)

// sameText compares a state with the line's as JSON can write it: two surrogates
// side by side are the same text as the character that they stand for.
func sameText(l line, state []byte) (bool, error) {
	want, err := l.text("state")
	if err != nil {
		return false, err
	}
	got, err := written.Parse(compactjson.AppendString(nil, state))
	return err == nil && want == string(got.Text), err
}

// samePayload compares JSON values. No value on both sides is JavaScript's
// undefined.
func samePayload(l line, state []byte) (bool, error) {
	want := l.object.Lookup("payload")
	if len(state) == 0 || want == nil {
		return len(state) == 0 && want == nil, nil
	}
	got, err := rawjson.Parse(state)
	return err == nil && sameValue(want, &got), err
}

// sameValue compares values as JavaScript has them: numbers are floats, and
// the last of several members with one name counts, in any order.
func sameValue(a, b *rawjson.Value) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) {
		return false
	}
	if a.Kind == rawjson.Number {
		return a.Float() == b.Float()
	}
	for i := range a.Items {
		if !sameValue(&a.Items[i], &b.Items[i]) {
			return false
		}
	}
	return bytes.Equal(a.Text, b.Text) && hasMembers(a, b) && hasMembers(b, a)
}

// hasMembers reports whether b has every member of a.
func hasMembers(a, b *rawjson.Value) bool {
	for i := range a.Members {
		name := string(a.Members[i].Name)
		other := b.Lookup(name)
		if other == nil || !sameValue(a.Lookup(name), other) {
			return false
		}
	}
	return true
}
