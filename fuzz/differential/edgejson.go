package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// edgeTexts are texts for claims and for parts of a context.
var edgeTexts = append(slices.Clone(oddTexts),
	"\x00a", "a\x00", "a\x00b", "\x1f", "\u0085", "\uffff", "\U0010ffff", "É", "ß", "İ", "ﬁ", "e\u0301", "\u202e", "a b", " a", "a ", "\ta", "%00", "%61",
	"true", "-0", "1e400", "[]", "\"", "\\", "\\u0061", "'", "a.b", "a:b", "a--b", "a*b", "~2", "../x", "\xed\xb0\x80\xed\xa0\x80", strings.Repeat("k", 255), strings.Repeat("é", 1000),
)

// wrongSpellings are invalid JSON texts that some parsers accept.
var wrongSpellings = []string{
	"", " ", "NaN", "-NaN", "nan", "Infinity", "-Infinity", "+Infinity", "infinity", "inf", "01", "00", "-01", "-", "+1", ".5", "-.5", "1.", "1.e1",
	"1e", "1e+", "1.0e", "0x10", "0b1", "0o7", "1_0", "1 0", "1,0", "１", "tru", "True", "TRUE", "truee", "nul", "None", "nil", "undefined", "'a'",
	"`a`", "a", `"a`, `a"`, `"a""b"`, `"a" "b"`, `"\x41"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `"\u 123"`, `"\U00000041"`, `"\'"`, `"\0"`, `"\a"`, `"\v"`,
	`"\e"`, `"\ `, `"\`, `"\u{41}"`, "\"\\\n\"", "[,]", "[1,]", "[1 2]", "[1]]", "[[1]", "[", "]", "{", "}", "{,}", `{"a"}`, `{"a":}`, `{"a":1,}`,
	`{"a" 1}`, `{"a":1 "b":2}`, "{a:1}", "{'a':1}", "{1:2}", "{null:1}", `{"a":1}}`, "/**/1", "1/**/", "//\n1", "#\n1", "1;", "\ufeff1", "\x001",
	"1\x00", "\v1", "1\f", "\u00a01", "1\u2028", `{"a":1}{"b":2}`, `"a"+"b"`, "1e5.5", "--1", "1-", "$", "0.", "\"\xff\"", "\"\xc0\xaf\"",
	"\"\xc1\x81\"", "\"\xe2\x82\"", "\"\xed\xa0\x80\"", "\"\xed\xa0\x80\xed\xb0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf8\x88\x80\x80\x80\"",
	"\"\xe0\x80\xaf\"", "\"\xfe\xff\"", "\"\x80\"",
}

// edgeNumbers are numbers near the limits of parsers.
var edgeNumbers = append(slices.Clone(numberForms),
	"-0e0", "-0E-0", "0e0", "0e999999999999", "1e99999999999999999999", "-1e99999999999999999999", "1e-99999999999999999999", "1e309",
	"1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072011e-308", "4.9e-324", "2e-324", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "4294967296", "2147483648", "9007199254740991",
	"9007199254740992", "9007199254740994", "0.1e1", "10e-1", "1.0e0", "1E0", "1e00", "1e+00", "1e-00", "0.30000000000000004", "123456789012345678",
	"1.0000000000000000000000001", "100000000000000000000000.0", "1e23", "8.41e21", "5e-5", "123e-7", strings.Repeat("9", 400),
	"-"+strings.Repeat("9", 400), strings.Repeat("9", 4300), strings.Repeat("9", 4301), "0."+strings.Repeat("0", 400)+"1",
	"1"+strings.Repeat("0", 400)+"e-400", "1."+strings.Repeat("0", 5000),
)

// edgeLeaves are strings and literals in odd but valid spellings.
var edgeLeaves = append(slices.Clone(leafValues),
	`"\u0000"`, `"\u001F"`, `"\u0022"`, `"\u005c"`, `"\/"`, `"\uD83D\uDE00"`, `"\ude00\ud83d"`, `"\ud83d"`, `"\ud83dx"`, `"\ud800\ud800"`,
	`"\udbff\udfff"`, `"\uFFFE"`, `"\uffff"`, `"\ufeff"`, `"\u2028"`, "\"\u2028\"", "\"\ufeff\"", "\"\x7f\"", "\"\u0080\"",
	"\"\U0010ffff\"", `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"":0}`, `{"__proto__":1}`, `{"__proto__":{"exp":1}}`, `{"constructor":1}`,
	`{"1":0,"0":1}`, `["a"]`, `[["a"]]`, `[null]`, `{"a":null}`, `{"b":1,"a":2}`, `{"json_class":"String"}`, `{"^o":"Object"}`,
	`{"$date":0}`, "[ ]", "{ }", "[1 ,2]", " 1", "1 ", "\n1\r\n", "\t[\t]", `"`+strings.Repeat("x", 5000)+`"`,
)

// nestingDepths are depths of nesting near the limits of parsers.
var nestingDepths = []int{5, 31, 32, 33, 63, 64, 65, 98, 99, 100, 101, 102, 125, 126, 127, 128, 129, 130, 255, 256, 257, 509, 510, 511, 512, 513, 514}

func nestedArray(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// edgeValues returns JSON values, valid and invalid, and spellings of times near now.
func edgeValues(now time.Time) []string {
	all := slices.Concat(edgeNumbers, edgeLeaves, wrongSpellings)
	for b := range 0x20 {
		all = append(all, "\""+string(rune(b))+"\"")
	}
	for _, d := range nestingDepths {
		all = append(all, nestedArray(d), strings.Repeat(`{"a":`, d)+"0"+strings.Repeat("}", d))
	}
	for _, n := range edgeTimes(now) {
		all = append(all, fmt.Sprint(n))
	}
	for _, d := range []int64{-1, 0, 1, 600} {
		n := now.Unix() + d
		all = append(all, fmt.Sprintf("%d.0", n), fmt.Sprintf("%d.5", n), fmt.Sprintf("%d.25", n), fmt.Sprintf("%d.2499999", n), fmt.Sprintf("%d.2500001", n), fmt.Sprintf("%d.00000000001", n),
			fmt.Sprintf("%de0", n), fmt.Sprintf("%d0e-1", n), fmt.Sprintf("%d.%09de9", n/1e9, n%1e9), fmt.Sprintf("%q", fmt.Sprint(n)),
			fmt.Sprintf("-%d", n), fmt.Sprintf("[%d]", n), fmt.Sprintf("%d.99999999999999999999", n-1))
	}
	return all
}

// edgeStates are states: JSON texts, valid and invalid, and other texts. Pairs of surrogates in
// three bytes each are left out, because a worker returns the character that they form.
var edgeStates = slices.DeleteFunc(slices.Concat(edgeTexts, edgeNumbers, edgeLeaves, wrongSpellings,
	[]string{nestedArray(50), nestedArray(98), nestedArray(99), nestedArray(100), nestedArray(101), nestedArray(126), nestedArray(127), nestedArray(128), nestedArray(129), nestedArray(510),
		nestedArray(512), nestedArray(513)}),
	func(s string) bool { return strings.Contains(s, "\xed\xa0\x80\xed\xb0\x80") })

// A byteRange is a range of bytes in a document.
type byteRange struct{ begin, end int }

// A layout holds the places in a document: its values and objects, and the members of each
// object.
type layout struct {
	values  []byteRange
	objects []byteRange
	members [][]byteRange
}

// scanLayout returns the layout of a document. It reports false if the document is not JSON.
func scanLayout(text []byte) (l layout, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return l, l.value(d, text) == nil
}

// value appends the next value and the values inside it.
func (l *layout) value(d *json.Decoder, text []byte) error {
	before := int(d.InputOffset())
	token, err := d.Token()
	if err != nil {
		return err
	}
	p := byteRange{before + separatorLength(text[before:]), int(d.InputOffset())}
	at := len(l.values)
	l.values = append(l.values, p)
	open, composite := token.(json.Delim)
	if !composite {
		return nil
	}
	var members []byteRange
	for d.More() {
		begin := int(d.InputOffset())
		begin += separatorLength(text[begin:])
		if open == '{' {
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		if err := l.value(d, text); err != nil {
			return err
		}
		members = append(members, byteRange{begin, int(d.InputOffset())})
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	l.values[at].end = int(d.InputOffset())
	if open == '{' {
		l.objects, l.members = append(l.objects, l.values[at]), append(l.members, members)
	}
	return nil
}

// separatorLength returns the number of bytes before the next value or name.
func separatorLength(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n,:")) }

// jsonEdges returns variants of a document: every value replaced by every edge, members
// removed, duplicated, renamed, added and reordered, and text inserted around and between.
func jsonEdges(text []byte, now time.Time) [][]byte {
	l, ok := scanLayout(text)
	if !ok {
		return nil
	}
	values := edgeValues(now)
	var all [][]byte
	for _, p := range l.values {
		for _, v := range values {
			all = append(all, replaceRange(text, p.begin, p.end, v))
		}
		old := string(text[p.begin:p.end])
		for _, v := range []string{old + ".0", old + "e0", old + ".5", "-" + old, old + "0", "[" + old + "]", `"` + old + `"`, " " + old + " ",
			strings.Replace(old, `"`, `"\u0000`, 1), strings.Replace(old, "a", `\u0061`, 1), strings.ToUpper(old)} {
			all = append(all, replaceRange(text, p.begin, p.end, v))
		}
	}
	for i, object := range l.objects {
		all = append(all, memberEdges(text, object, l.members[i], values)...)
	}
	s := string(text)
	for _, m := range append(edgeMarks, "/**/", "//\n", "#\n", ",", "{}", "[]", "null", "0", ")]}'\n") {
		all = append(all, []byte(m+s), []byte(s+m), []byte(strings.Replace(s, "{", "{"+m, 1)), []byte(strings.Replace(s, ":", m+":", 1)),
			[]byte(strings.Replace(s, ":", ":"+m, 1)), []byte(strings.Replace(s, ",", ","+m, 1)))
	}
	return all
}

// memberEdges returns variants of a document in the members of one object.
func memberEdges(text []byte, object byteRange, members []byteRange, values []string) [][]byte {
	var all [][]byte
	first, last := object.begin+1, object.end-1
	comma := ","
	if len(members) == 0 {
		comma = ""
	}
	for _, v := range values {
		all = append(all, replaceRange(text, first, first, `"unknown":`+v+comma), replaceRange(text, last, last, comma+`"unknown":`+v))
	}
	for _, name := range memberNames {
		all = append(all, replaceRange(text, last, last, comma+name+":0"), replaceRange(text, last, last, comma+name+":"+name))
	}
	turned := []string{}
	for i, m := range members {
		member := string(text[m.begin:m.end])
		turned = append([]string{member}, turned...)
		name := nameOf(member)
		rest := member[len(name):]
		all = append(all, replaceRange(text, first, first, member+","), replaceRange(text, last, last, ","+member))
		for _, v := range []string{"null", "0", `""`, `"x"`, "[]", "{}", "true", "1e400", "-1", "99999999999"} {
			all = append(all, replaceRange(text, first, first, name+":"+v+","), replaceRange(text, last, last, ","+name+":"+v), replaceRange(text, last, last, ","+escapeFirstCharacter([]byte(name))+":"+v))
		}
		for _, other := range []string{strings.ToUpper(name), escapeFirstCharacter([]byte(name)), `" ` + name[1:], name[:len(name)-1] + ` "`,
			name[:len(name)-1] + `\u0000"`, name[:len(name)-1] + "\x00\"", `""`, "'" + strings.Trim(name, `"`) + "'", strings.Trim(name, `"`),
			"\ufeff" + name, name[:len(name)-1] + "\u200d\""} {
			all = append(all, replaceRange(text, m.begin, m.end, other+rest))
		}
		switch {
		case i > 0:
			all = append(all, replaceRange(text, members[i-1].end, m.end, ""))
		case len(members) > 1:
			all = append(all, replaceRange(text, m.begin, members[1].begin, ""))
		}
	}
	return append(all, replaceRange(text, first, last, ""), replaceRange(text, first, last, strings.Join(turned, ",")))
}

// nameOf returns the quoted name of a member.
func nameOf(member string) string {
	d := json.NewDecoder(strings.NewReader(member))
	d.Token() //nolint:errcheck // scan has read it
	return member[:d.InputOffset()]
}
