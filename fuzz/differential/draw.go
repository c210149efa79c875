package differential

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// pickOne returns a random element of choices.
func pickOne[T any](r *round, choices []T) T { return choices[r.IntN(len(choices))] }

// octets returns n random bytes.
func (r *round) octets(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// oddTexts are strings that implementations treat differently. The last two contain lone
// surrogates, three bytes each.
var oddTexts = []string{
	"", "a", "A", "deploy", "v1.", "é", "e\u0301", "\x00", "\x7f", "\n\r\t\b\f", `"\/<>&'`, "\u2028\u2029", "\ufeff", "\ufffd",
	"\U0001F600", "null", "0", "{}", `["client","https://as.example","alice"]`, strings.Repeat("long ", 60),
	"\xed\xa0\x80", "a\xed\xbf\xbfb",
}

func (r *round) text() string {
	if r.IntN(3) > 0 {
		return pickOne(r, oddTexts)
	}
	return pickOne(r, oddTexts[:20]) + pickOne(r, oddTexts[:20])
}

// numberForms are JSON numbers in many forms.
var numberForms = []string{
	"0", "-0", "1", "-1", "1.0", "-0.0", "0.1", "1e0", "1E+2", "100000000000000000000", "9007199254740993", "-12345678901234567890123",
	"1e15", "1e16", "1e-4", "1e-5", "123456789.123456789", "5e-324", "1e308", "1e400", "-1e400", "1e-400", "2.5e-7", "1e21", "1e22",
}

// leafValues are other JSON values without nesting.
var leafValues = []string{
	"null", "true", "false", `""`, `"a"`, `"\u0041"`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00x"`, `"é\/\b\u007f\u2028"`, "[]", "{}", "[ ]",
}

// memberNames are names of members. Some sort differently by bytes and by UTF-16 units, and some
// are array indices.
var memberNames = []string{`"a"`, `"b"`, `"B"`, `""`, `"\u0061"`, `"10"`, `"9"`, `"\uffff"`, `"\ud83d\ude00"`, `"\ud800"`, `"__proto__"`, `"é"`}

// document returns a random JSON text with at most three levels of nesting.
func (r *round) document() json.RawMessage {
	var out bytes.Buffer
	r.write(&out, 3)
	return out.Bytes()
}

func (r *round) write(out *bytes.Buffer, depth int) {
	kind := r.IntN(6)
	if depth == 0 {
		kind = r.IntN(2)
	}
	switch kind {
	case 0:
		out.WriteString(pickOne(r, leafValues))
	case 1:
		out.WriteString(r.number())
	case 2:
		r.writeAll(out, '[', ']', func() { r.write(out, depth-1) })
	default:
		r.writeAll(out, '{', '}', func() {
			out.WriteString(pickOne(r, memberNames) + r.space() + ":" + r.space())
			r.write(out, depth-1)
		})
	}
}

func (r *round) writeAll(out *bytes.Buffer, open, end byte, one func()) {
	out.WriteByte(open)
	for i := range r.IntN(5) {
		if i > 0 {
			out.WriteString(r.space() + "," + r.space())
		}
		one()
	}
	out.WriteByte(end)
}

// number returns a known number, or a float with a random exponent.
func (r *round) number() string {
	if r.IntN(2) == 0 {
		return pickOne(r, numberForms)
	}
	return strconv.FormatFloat(r.NormFloat64(), 'f', -1, 64) + "e" + strconv.Itoa(r.IntN(640)-320)
}

// space returns white space, usually "".
func (r *round) space() string { return pickOne(r, []string{"", "", "", " ", "\t"}) }

// respell returns the same JSON with other white space, and sometimes with duplicate members.
func (r *round) respell(doc json.RawMessage) json.RawMessage {
	switch {
	case doc == nil:
		return json.RawMessage(pickOne(r, []string{"null", "{}", "[]", `""`, "0", "false", "0.0"}))
	case r.IntN(4) == 0 && len(doc) > 2 && doc[0] == '{':
		return append(append(doc[:len(doc)-1:len(doc)-1], ','), doc[1:]...)
	default:
		var out bytes.Buffer
		if err := json.Indent(&out, doc, "", " "); err != nil {
			return doc
		}
		return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(" "))
	}
}
