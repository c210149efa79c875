package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// The bytes of a segment that may be a tag.
const minStamp, maxStamp = 16, 64

// maxStamped is the number of changes to a token that are signed.
const maxStamped = 6

// Stamped returns tokens with one value changed and a tag that sign gives. It signs the text before or
// after the tag, the segment with the value, and the bytes of that segment. The text that sign returns
// holds the tag in any encoding.
func Stamped(token string, sign func(message string) string) []Variant {
	var all []Variant
	for _, v := range Views(token) {
		for i, c := range changedObjects(v.Object) {
			if v.Segment < 0 || i == maxStamped {
				break
			}
			stampWith(sign, v, Segments(v.Write(token, c.text)), func(name, text string) {
				all = append(all, Variant{Name: "a tag over the " + name + " with " + c.name, Text: text})
			})
		}
	}
	return all
}

// stampWith calls add with a token whose tags are replaced by tags over its parts.
func stampWith(sign func(message string) string, v View, segments []Segment, add func(name, text string)) {
	for _, at := range CodedSegments(segments) {
		tag := segments[at]
		if n := len(tag.Raw()); at == v.Segment || n < minStamp || n > maxStamp {
			continue
		}
		seen := map[string]bool{"": true}
		for _, part := range []struct{ name, text string }{
			{"text before it", strings.TrimRight(Replaced(segments[:at], -1, ""), separators)},
			{"text after it", strings.TrimLeft(Replaced(segments[at+1:], -1, ""), separators)},
			{"segment", segments[v.Segment].Text},
			{"bytes of the segment", string(segments[v.Segment].Raw())},
		} {
			if seen[part.text] {
				continue
			}
			seen[part.text] = true
			if stamp := stampIn(sign(part.text), tag); stamp != "" {
				add(fmt.Sprintf("%s in segment %d", part.name, at), Replaced(segments, at, stamp))
			}
		}
	}
}

// stampIn returns the first segment of a text that has as many bytes as a tag, in the encoding of the
// tag. It returns "" without one.
func stampIn(text string, tag Segment) string {
	for _, s := range Segments(text) {
		if s.coded && len(s.Raw()) == len(tag.Raw()) {
			return tag.Write(s.Raw())
		}
	}
	return ""
}

// HasStamp reports whether a text has a segment with as many bytes as one of a token that may be a tag.
func HasStamp(text, token string) bool {
	segments := Segments(token)
	for _, i := range CodedSegments(segments) {
		if n := len(segments[i].Raw()); n >= minStamp && n <= maxStamp && stampIn(text, segments[i]) != "" {
			return true
		}
	}
	return false
}

// Copied returns tokens that mint gives for the readable objects of a token with one value changed.
func Copied(token string, mint func(object json.RawMessage) string) []Variant {
	var all []Variant
	for _, v := range Views(token) {
		for _, c := range changedObjects(v.Object) {
			if text := mint(c.text); text != "" && len(all) < maxStamped {
				all = append(all, Variant{Name: "the contents with " + c.name, Text: text})
			}
		}
	}
	return all
}

// longWord matches a part of a text that may be a token.
var longWord = regexp.MustCompile(`[A-Za-z0-9_.~+/=-]{16,}`)

// Holder returns the first token in a text that shows all members of an object, or "".
func Holder(text string, object json.RawMessage) string {
	for _, token := range longWord.FindAllString(text, -1) {
		for _, v := range Views(token) {
			all := maps.Clone(v.Object)
			maps.Copy(all, jsondoc.Members(object))
			if maps.EqualFunc(all, v.Object, func(one, other json.RawMessage) bool { return bytes.Equal(one, other) }) {
				return token
			}
		}
	}
	return ""
}

// maxAdded is the number of members of a readable object that Added repeats.
const maxAdded = 12

// Added returns tokens whose readable objects have one more member, in front or at the end: one of their own names, as
// it is or with other capital letters, and with the digits as its number or at the end of its text.
func Added(token, digits string) []Variant {
	var all []Variant
	for _, v := range Views(token) {
		inside := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(v.text(token)), "}"), "{"))
		names := jsondoc.SortedKeys(v.Object)
		for _, name := range names[:min(len(names), maxAdded)] {
			value := digits
			switch old := string(v.Object[name]); {
			case strings.HasPrefix(old, `"`):
				value = `"sealab` + digits + `"`
			case strings.Trim(old, "-.0123456789") != "":
				continue // neither a number nor a text
			}
			forms := []string{name, strings.ToUpper(name), strings.ToLower(name), strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]}
			slices.Sort(forms)
			for _, form := range slices.Compact(forms) {
				member := string(jsondoc.Quote(form)) + ":" + value
				for _, object := range []struct{ place, text string }{{"front", "{" + member + "," + inside + "}"}, {"end", "{" + inside + "," + member + "}"}} {
					all = append(all, Variant{Name: fmt.Sprintf("a member %s of segment %d at the %s", form, v.Segment, object.place), Text: v.Write(token, json.RawMessage(object.text))})
				}
			}
		}
	}
	return all
}
