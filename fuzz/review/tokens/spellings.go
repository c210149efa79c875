package tokens

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"sealab/fuzz/review/jsondoc"
)

// OtherCharacter changes the last but one character of a credential. The last one of base64 may
// have unused bits.
func OtherCharacter(secret string) string {
	i := max(len(secret)-2, 0)
	other := "0"
	if secret[i] == '0' {
		other = "1"
	}
	return secret[:i] + other + secret[i+1:]
}

// SwapCase swaps the case of ASCII letters.
func SwapCase(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, text)
}

// Spellings returns other texts that a careless reader decodes to the same bytes as a token.
func Spellings(token string) []Variant {
	var all []Variant
	add := func(name, text string) {
		if text != token {
			all = append(all, Variant{Name: name, Text: text})
		}
	}
	segments := Segments(token)
	at := CodedSegments(segments)
	for _, i := range at {
		spelledSegment(add, segments, i)
	}
	for _, blank := range []struct{ name, text string }{
		{"a space", " "}, {"a tab", "\t"}, {"a line feed", "\n"}, {"CR LF", "\r\n"}, {"NUL", "\x00"},
		{"a no-break space", "\u00a0"}, {"a byte order mark", "\ufeff"}, {"a zero-width space", "\u200b"},
	} {
		add(blank.name+" at the end", token+blank.text)
		add(blank.name+" in front", blank.text+token)
		add(blank.name+" in the middle", token[:len(token)/2]+blank.text+token[len(token)/2:])
	}
	for _, x := range []string{"A", "AAAA", ".", ".x", ".A", "=", "==", "&x=1", ",", "|"} {
		add(fmt.Sprintf("%q at the end", x), token+x)
	}
	add("a full stop in front", "."+token)
	add("the token twice", token+token)
	add("the token twice with a full stop between", token+"."+token)
	add("percent escapes", url.QueryEscape(token))
	add("every character escaped with percent", percentEncode(token))
	add("in quotes", `"`+token+`"`)
	if i := strings.IndexAny(token, ".:_-"); i > 0 && i < MinCoded {
		add("the prefix in upper case", strings.ToUpper(token[:i])+token[i:])
		add("the prefix in lower case", strings.ToLower(token[:i])+token[i:])
	}
	if len(at) > 0 {
		add("a full-width last character", FullWidth(token))
	}
	return all
}

// spelledSegment adds other encodings of the bytes of one segment.
func spelledSegment(add func(name, text string), segments []Segment, i int) {
	s := segments[i]
	in := func(name, text string) {
		if text != s.Text {
			add(fmt.Sprintf("%s in segment %d", name, i), Replaced(segments, i, text))
		}
	}
	if s.hex {
		in("upper case", strings.ToUpper(s.Text))
		in("lower case", strings.ToLower(s.Text))
		return
	}
	body := strings.TrimRight(s.Text, "=")
	in("no padding", body)
	if pad := (4 - len(body)%4) % 4; pad > 0 {
		in("padding", body+strings.Repeat("=", pad))
	}
	in("wrong padding", body+"===")
	in("the alphabet of base64", strings.NewReplacer("-", "+", "_", "/").Replace(s.Text))
	in("the alphabet of base64url", strings.NewReplacer("+", "-", "/", "_").Replace(s.Text))
	if spare := map[int]int{2: 16, 3: 4}[len(body)%4]; spare > 0 {
		last := strings.IndexByte(base64Letters, strings.NewReplacer("+", "-", "/", "_").Replace(body[len(body)-1:])[0])
		if other := base64Letters[last^1]; last >= 0 && last%spare == 0 {
			in("unused bits of the last character", body[:len(body)-1]+string(other)+s.Text[len(body):])
		}
	}
}

func percentEncode(token string) string {
	var b strings.Builder
	for i := range len(token) {
		fmt.Fprintf(&b, "%%%02X", token[i])
	}
	return b.String()
}

// FullWidth returns a token with its last character in full-width form, which is not ASCII.
func FullWidth(token string) string {
	c := token[len(token)-1]
	if c <= ' ' || c >= 0x7f {
		return token
	}
	return token[:len(token)-1] + string(rune(c)+0xfee0)
}

// Escaped returns a token as JSON with a \u escape for each character.
func Escaped(token string) json.RawMessage {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range token {
		if r > 0xffff {
			return jsondoc.Quote(token)
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	b.WriteByte('"')
	return json.RawMessage(b.String())
}

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
