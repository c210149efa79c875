package tokenfmt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// HeaderMembers adds members that restrict or redirect a reader to each segment that
// is a JSON object (RFC 7515, section 4.1).
func HeaderMembers(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		if !bytes.HasPrefix(raw, []byte("{")) {
			continue
		}
		for _, member := range []string{`"crit":["x"],"x":1,`, `"b64":false,"crit":["b64"],`, `"zip":"DEF",`, `"kid":"../../dev/null",`, `"alg":"none",`} {
			first := append([]byte("{"+member), raw[1:]...)
			last := append(bytes.TrimSuffix(bytes.Clone(raw), []byte("}")), ","+strings.TrimSuffix(member, ",")+"}"...)
			yield(Alteration{f.With(i, first), fmt.Sprintf("%s added to segment %d", member, i)})
			yield(Alteration{f.With(i, last), fmt.Sprintf("%s added at the end of segment %d", member, i)})
		}
	}
}

// A jsonObject is a JSON object inside the bytes of a segment.
type jsonObject struct {
	from, to int // offsets of the object in the bytes
	members  []memberAt
}

// A memberAt locates a member of an object. All offsets are into the bytes of the segment.
type memberAt struct{ from, colon, to int }

// jsonObjects returns the outermost JSON objects that begin at a '{' in raw. A tag or a nonce
// may precede and follow an object.
func jsonObjects(raw []byte) []jsonObject {
	var all []jsonObject
	for from := 0; from < len(raw); from++ {
		if raw[from] != '{' {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(raw[from:]))
		var text json.RawMessage
		if d.Decode(&text) != nil || !utf8.Valid(text) {
			continue
		}
		o := jsonObject{from: from, to: from + len(text), members: membersOf(text, from)}
		if len(o.members) > 0 {
			all = append(all, o)
		}
		from = o.to - 1
	}
	return all
}

// membersOf returns the members of a JSON object, with offsets relative to base.
func membersOf(text []byte, base int) []memberAt {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var all []memberAt
	for d.More() {
		start := int(d.InputOffset())
		start += len(text[start:]) - len(bytes.TrimLeft(text[start:], " \t\r\n,"))
		if _, err := d.Token(); err != nil {
			return nil
		}
		name := int(d.InputOffset())
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		all = append(all, memberAt{base + start, base + name, base + int(d.InputOffset())})
	}
	return all
}

// Members alters JSON objects that can be read in the token. It duplicates each member, with
// the same value and with others, before and after it. It also adds a member, exchanges
// members, and rewrites the JSON text in equivalent forms.
func Members(f Format, _ *Source, yield func(Alteration)) {
	inObjects(f, jsonObject.alterations, yield)
}

// inObjects yields alterations of each JSON object that can be read in the token.
func inObjects(f Format, alter func(o jsonObject, raw []byte) []Alteration, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, o := range jsonObjects(raw) {
			for _, a := range alter(o, raw) {
				yield(Alteration{f.With(i, a.Text), fmt.Sprintf("in the JSON object of segment %d, %s", i, a.How)})
			}
		}
	}
}

// alterations returns raw with the object altered in each way.
func (o jsonObject) alterations(raw []byte) []Alteration {
	var all []Alteration
	put := func(at int, text, format string, args ...any) {
		all = append(all, Alteration{slices.Concat(raw[:at], []byte(text), raw[at:]), fmt.Sprintf(format, args...)})
	}
	comma := ","
	if len(o.members) > 1 {
		comma = string(raw[o.members[0].to:o.members[1].from]) // with the white space of the token
	}
	first, end := o.members[0].from, o.members[len(o.members)-1].to
	for _, m := range o.members {
		name, whole := string(raw[m.from:m.colon]), string(raw[m.from:m.to])
		value := raw[m.colon:m.to]
		colon := string(value[:len(value)-len(bytes.TrimLeft(value, ": \t\r\n"))])
		for _, twice := range append([]string{whole}, otherValues(name+colon, value[len(colon):])...) {
			put(first, twice+comma, "%.60s stands in front of the first member", twice)
			put(end, comma+twice, "%.60s stands behind the last member", twice)
			put(m.to, comma+twice, "%.60s stands behind %s", twice, name)
		}
		if r, size := utf8.DecodeRuneInString(name[1:]); size == 1 && r != '"' {
			escaped := fmt.Sprintf(`"\u%04x%s`, r, name[2:])
			all = append(all, Alteration{slices.Concat(raw[:m.from], []byte(escaped), raw[m.colon:]), fmt.Sprintf("the name %s is escaped", name)})
		}
		for _, form := range otherForms(value[len(colon):]) {
			all = append(all, Alteration{slices.Concat(raw[:m.colon+len(colon)], []byte(form), raw[m.to:]), fmt.Sprintf("the value of %s is written as %.40s", name, form)})
		}
	}
	put(end, comma+`"x_extra"`+":1", "a member more stands at the end")
	put(end, comma, "a comma stands behind the last member")
	put(end, " ", "a space stands behind the last member")
	put(first, "\n", "a line break stands in front of the first member")
	put(o.from, " ", "a space stands in front of the object")
	put(o.to, "\n", "a line break stands behind the object")
	if k := len(o.members); k > 1 {
		a, b := o.members[0], o.members[k-1]
		all = append(all, Alteration{slices.Concat(raw[:a.from], raw[b.from:b.to], raw[a.to:b.from], raw[a.from:a.to], raw[b.to:]), "the first and the last member are exchanged"})
	}
	return all
}

// otherValues returns members with the same name and other values of the same type, or null.
func otherValues(name string, value []byte) []string {
	switch {
	case len(value) == 0:
		return nil
	case value[0] == '"':
		return []string{name + `"x"`, name + `""`, name + "null"}
	case value[0] == '{':
		return []string{name + "{}", name + "null"}
	case value[0] == '[':
		return []string{name + "[]", name + "null"}
	case value[0] == 't' || value[0] == 'f' || value[0] == 'n':
		return []string{name + "true", name + "false"}
	default:
		return []string{name + "9999999999", name + "0", name + "null"}
	}
}

var integerPattern = regexp.MustCompile(`^-?[0-9]+$`)

// otherForms returns other JSON texts, some of them invalid, that a lenient parser reads as the
// same value.
func otherForms(value []byte) []string {
	text := string(value)
	switch {
	case integerPattern.MatchString(text):
		return []string{text + ".0", text + "e0", text + "E+0", "0" + text, "+" + text}
	case len(text) > 2 && text[0] == '"' && text[1] < utf8.RuneSelf && text[1] != '\\':
		return []string{fmt.Sprintf(`"\u%04x%s`, text[1], text[2:]), strings.ReplaceAll(text, "/", `\/`)}
	}
	return nil
}

// equivalentTexts are pairs of texts that canonical equivalence (Unicode NFC), white
// space rules or case folding make equal.
var equivalentTexts = [][2]string{
	{"K", "\u212a"}, {";", "\u037e"}, {"\u00e9", "e\u0301"}, {"\u00c5", "\u212b"}, {"\n", "\r\n"}, {"\r\n", "\n"}, {" ", "  "}, {" ", "\t"}, {" ", "\u00a0"},
}

// Texts alters readable text in the bytes of each segment: canonical equivalents, line breaks,
// letter case, white space at the ends, NUL.
func Texts(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for _, run := range printableRuns(raw) {
			for _, a := range textForms(string(raw[run[0]:run[1]])) {
				altered := slices.Concat(raw[:run[0]], a.Text, raw[run[1]:])
				yield(Alteration{f.With(i, altered), fmt.Sprintf("in the text at byte %d of segment %d, %s", run[0], i, a.How)})
			}
		}
	}
}

// textForms returns other forms of text that a lenient reader treats as equal.
func textForms(text string) []Alteration {
	var all []Alteration
	add := func(other, format string, args ...any) {
		if other != text {
			all = append(all, Alteration{[]byte(other), fmt.Sprintf(format, args...)})
		}
	}
	for _, e := range equivalentTexts {
		add(strings.Replace(text, e[0], e[1], 1), "%+q for the first %+q", e[1], e[0])
		add(strings.ReplaceAll(text, e[0], e[1]), "%+q for every %+q", e[1], e[0])
	}
	add(strings.ToUpper(text), "upper case")
	add(strings.ToLower(text), "lower case")
	for _, c := range []string{" ", "\n", "\t", "\r\n", "\x00", "\u00a0", "\ufeff"} {
		add(text+c, "%+q behind it", c)
		add(c+text, "%+q in front of it", c)
	}
	add(strings.TrimSpace(text), "white space at the ends left out")
	return all
}

// printableRuns returns the runs of at least 8 bytes of readable UTF-8 text.
func printableRuns(raw []byte) [][2]int {
	var all [][2]int
	from := 0
	for at := 0; at <= len(raw); {
		r, size := utf8.DecodeRune(raw[at:])
		if at < len(raw) && (r == '\n' || r == '\r' || r == '\t' || r >= ' ' && r != 0x7f && (r != utf8.RuneError || size > 1)) {
			at += size
			continue
		}
		if at-from >= 8 {
			all = append(all, [2]int{from, at})
		}
		at++
		from = at
	}
	return all
}
