package binding

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/fields"
)

// ambiguityAttacks are the attacks that look for two different contexts that are read as the same.
var ambiguityAttacks = []attack.Attack{
	{ID: "CTX-04", Name: "text moved from one field to the next", Refutes: ambiguityProperties, Layer: attack.LayerContext, CWE: 1254,
		Gain: "a token for one pair of values, used for another pair", Origin: "AWS signature version 1, Percival 2008", Run: onTrial(trial.shiftedFields), Hundreds: 30},
	{ID: "CTX-08", Name: "fields swapped, duplicated and moved", Refutes: ambiguityProperties, Layer: attack.LayerContext, CWE: 1254,
		Gain: "a token for one pair of values, used for another pair", Origin: "digests of fields that are combined without order", Run: onTrial(trial.exchangedFields), Hundreds: 1},
	{ID: "CTX-12", Name: "a value that contains the separator and the next field", Refutes: ambiguityProperties, Layer: attack.LayerContext, CWE: 116,
		Gain: "a value that sets the content of another field", Origin: "contexts put together as text", Run: onTrial(trial.injectedFields), Hundreds: 20},
	{ID: "CTX-18", Name: "joined fields with an absent one, escapes, long shifts", Refutes: ambiguityProperties, Layer: attack.LayerContext, CWE: 116,
		Gain: "a token for one pair of values, used for another pair", Origin: "escapes that are not escaped; lengths of one and two bytes", Run: onTrial(trial.escapedFields), Hundreds: 30},
	{ID: "CTX-21", Name: "bytes moved between the state and a field", Refutes: []codecs.Property{codecs.Integrity, codecs.Unambiguous}, Layer: attack.LayerContext, CWE: 1254,
		Gain: "a token with a shorter state, used in another context", Origin: "one MAC over fields and state without lengths; AWS signature version 1, Percival 2008", Run: onTrial(trial.stateAcross), Hundreds: 7},
}

var ambiguityProperties = []codecs.Property{codecs.Unambiguous}

// fieldSeparators are texts that real formats join fields with.
var fieldSeparators = []string{"", "\x00", ":", "|", "/", "\n", ",", ".", " ", "-", "_", "#", "&", "=", ";", "~", "\t", "\x1f", "\x00\x00", "::", "||",
	"\r\n", "\x1e", "+", "@", "!", "$", "^", "*", `","`, "\",\n\"", "%", "\\", "--", "\x1d", "\u00b6", "/-/", "\x00+", "|+", "\x00\x01", "\x001", "|1"}

// drawnSeparators returns the separators, or a sample of Sweep of them.
func (t trial) drawnSeparators() (drawn []string) {
	for _, i := range t.Range(len(fieldSeparators)) {
		drawn = append(drawn, fieldSeparators[i])
	}
	return drawn
}

// boundFields holds the fields that the design binds, in one context.
type boundFields struct {
	in    *attack.Instance
	under codecs.Context
	bound []fields.Field
}

// pairsOf finds the fields that the design binds. It reports false if there are fewer than two.
func (t trial) pairsOf() (boundFields, bool) {
	var ps boundFields
	t.boundFields(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		ps.in, ps.under = in, under
		ps.bound = append(ps.bound, f)
	})
	if len(ps.bound) < 2 {
		if !t.Skipped() {
			t.Skip("the design binds fewer than two fields")
		}
		return ps, false
	}
	return ps, true
}

// each calls do for each ordered pair of bound fields.
func (ps boundFields) each(do func(a, b fields.Field)) {
	for _, a := range ps.bound {
		for _, b := range ps.bound {
			if a.Name != b.Name {
				do(a, b)
			}
		}
	}
}

// texts calls do for each ordered pair of bound fields that take any text.
func (ps boundFields) texts(do func(a, b fields.Field)) {
	ps.each(func(a, b fields.Field) {
		if a.Property != codecs.BindsArguments && b.Property != codecs.BindsArguments {
			do(a, b)
		}
	})
}

// shiftedFields moves part of one field across the border to another, for every known
// separator, for one-byte lengths, and for decimal lengths.
func (t trial) shiftedFields() {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	for _, f := range ps.bound {
		if f.Property == codecs.BindsArguments {
			t.besideArguments(ps)
		}
	}
	ps.each(func(a, b fields.Field) {
		for _, sep := range t.drawnSeparators() {
			from := b.Put(a.Put(ps.under, a.Value("xx"+sep+"yy")), b.Value("zz"))
			to := b.Put(a.Put(ps.under, a.Value("xx")), b.Value("yy"+sep+"zz"))
			t.read(ps.in, from, to, fmt.Sprintf("%s and %s joined by %q", a.Name, b.Name, sep))
			t.throughArguments(ps, a, b, sep)
		}
	})
	ps.texts(func(a, b fields.Field) {
		long := strings.Repeat("p", 255)
		from := b.Put(a.Put(ps.under, "x\x01"+long), "c")
		to := b.Put(a.Put(ps.under, "x"), long+"\x01c")
		t.read(ps.in, from, to, "lengths of one byte")
		// Both are written as 1 0 11 xxxxxxxx2zz, without the spaces.
		from, to = b.Put(a.Put(ps.under, "0"), "xxxxxxxx2zz"), b.Put(a.Put(ps.under, "11xxxxxxxx"), "zz")
		t.read(ps.in, from, to, "lengths in decimal digits in front of values, without a border")
		if b.Optional() {
			t.read(ps.in, b.Without(a.Put(ps.under, "xxyy")), b.Put(a.Put(ps.under, "xx"), "yy"), "joined without a border to an absent field")
			t.read(ps.in, a.Put(b.Without(ps.under), "xx:yy"), b.Put(a.Put(ps.under, "xx"), "yy"), "joined by a colon to an absent field")
		}
	})
}

// stateAcross cuts bytes off a state that the token shows, and adds them to a bound field: those at
// the start of the state to the end of the field, and the reverse.
func (t trial) stateAcross() {
	t.boundFields(func(in *attack.Instance, under codecs.Context, f fields.Field) {
		if f.Property == codecs.BindsArguments {
			return
		}
		for _, sep := range t.drawnSeparators() {
			t.moveFromState(in, f, f.Put(under, "srv"), sep+"-eu", "srv"+sep+"-eu", true)
			t.moveFromState(in, f, f.Put(under, "srv"), "eu-"+sep, "eu-"+sep+"srv", false)
		}
	})
	if t.Untried() {
		t.Skip("no token shows its state, or no text field is bound")
	}
}

// moveFromState mints a token for a state with moved at its start or end, cuts that off, and
// presents the token with another value of the field.
func (t trial) moveFromState(in *attack.Instance, f fields.Field, under codecs.Context, moved, value string, fromStart bool) {
	state, kept := moved+`{"step":1}`, 0
	if !fromStart {
		state, kept = `{"step":1}`+moved, len(state)-len(moved)
	}
	tok, ok := in.Mint([]byte(state), under)
	if !ok {
		return
	}
	format := tok.Format()
	for _, i := range format.Encoded() {
		raw := format.Segments[i].Bytes
		at := bytes.Index(raw, []byte(state))
		if at < 0 {
			continue
		}
		t.Try(codecs.Integrity, codecs.Unambiguous)
		cut := slices.Delete(bytes.Clone(raw), at+kept, at+kept+len(moved))
		if call, ok := in.Accepts(format.With(i, cut), f.Put(under, value)); ok {
			t.RefuteEach([]codecs.Property{codecs.Integrity, codecs.Unambiguous}, attack.Accepted,
				fmt.Sprintf("a token is accepted with %q moved from its state to the %s", moved, f.Name), tok.Sealed, call)
		}
	}
}

// throughArguments shifts the border between two fields with the arguments between them, so
// that the joined text of all three is the same.
func (t trial) throughArguments(ps boundFields, a, b fields.Field, sep string) {
	if a.Property != codecs.BindsTarget || b.Property == codecs.BindsArguments || b.Property == codecs.BindsMethod {
		return
	}
	const middle = `{"a":1}`
	from := fields.Arguments.Put(b.Put(a.Put(ps.under, "xx"+sep+middle), "zz"), `{"b":2}`)
	to := fields.Arguments.Put(b.Put(a.Put(ps.under, "xx"), `{"b":2}`+sep+"zz"), middle)
	t.read(ps.in, from, to, fmt.Sprintf("%s, arguments and %s joined by %q", a.Name, b.Name, sep))
}

// besideArguments shifts the border between target and arguments. Arguments are raw JSON text:
// a number can be split, and an object can move into the target.
func (t trial) besideArguments(ps boundFields) {
	target, arguments := fields.Target, fields.Arguments
	for _, sep := range []string{"", ".", ":", "|", "\n", " ", "\x00", "/", "%", "\\"} {
		t.read(ps.in, arguments.Without(target.Put(ps.under, "xx"+sep+`{"a":1}`)), arguments.Put(target.Put(ps.under, "xx"), `{"a":1}`),
			fmt.Sprintf("target and arguments joined by %q", sep))
	}
	for _, sep := range []string{"", "."} {
		t.read(ps.in, arguments.Put(target.Put(ps.under, "xx"+sep+"1"), "2"), arguments.Put(target.Put(ps.under, "xx"), "1"+sep+"2"),
			fmt.Sprintf("target and arguments joined by %q", sep))
	}
}

// exchangedFields exchanges the values of two fields, and sets both to one value and then to
// another. A combination that ignores order does not notice either.
func (t trial) exchangedFields() {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	ps.each(func(a, b fields.Field) {
		x, y := "xx-1", "yy-2"
		if a.Property == codecs.BindsArguments || b.Property == codecs.BindsArguments {
			x, y = `{"v":"xx"}`, `{"v":"yy"}`
		}
		t.read(ps.in, b.Put(a.Put(ps.under, x), y), b.Put(a.Put(ps.under, y), x), a.Name+" and "+b.Name+" exchanged")
		t.read(ps.in, b.Put(a.Put(ps.under, x), x), b.Put(a.Put(ps.under, y), y), a.Name+" and "+b.Name+" both changed alike")
		if a.Property != codecs.BindsArguments && b.Property != codecs.BindsArguments {
			t.read(ps.in, b.Put(a.Put(ps.under, x), ""), b.Put(a.Put(ps.under, ""), x), "a value moved from "+a.Name+" to "+b.Name+", the other one is empty")
		}
		if a.Optional() && b.Optional() {
			t.read(ps.in, b.Without(a.Put(ps.under, x)), a.Without(b.Put(ps.under, x)), "a value moved from "+a.Name+" to "+b.Name)
		}
	})
}

// injectedFields writes into one field the text that a format would write for another.
func (t trial) injectedFields() {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	ps.texts(func(a, b fields.Field) {
		for _, name := range []string{b.Name, b.Name[:1], strings.ToUpper(b.Name[:1]) + b.Name[1:]} {
			for _, form := range fieldInjections {
				from := b.Put(a.Put(ps.under, "xx"), "yy"+form.open+name+form.middle+"zz")
				to := b.Put(a.Put(ps.under, "xx"+form.open+name+form.middle+"yy"), "zz")
				t.read(ps.in, from, to, fmt.Sprintf("%s written into %s", b.Name, a.Name))
				if b.Optional() {
					t.read(ps.in, b.Put(a.Put(ps.under, "xx"), "zz"), b.Without(a.Put(ps.under, "xx"+form.open+name+form.middle+"zz"+form.end)), fmt.Sprintf("%s written into %s, and absent", b.Name, a.Name))
				}
			}
		}
	})
}

// fieldInjections are the texts around the name of a field in text formats. The end follows an
// injected value.
var fieldInjections = []struct{ open, middle, end string }{
	{`","`, `":"`, ""}, {`", "`, `": "`, ""}, {"&", "=", ""}, {";", "=", ""}, {",", "=", ""}, {"\n", ":", ""}, {"\n", "=", ""}, {" ", "=", ""}, {"|", "=", ""},
	{"; ", "=", ""}, {"\n", ": ", ""}, {"\r\n", ": ", ""}, {"/", "/", ""}, {"\x00", "\x00", ""}, {"|", "|", ""},
}

// escapedFields looks for borders that escape characters move, also with one field absent, and
// for lengths that are stored in one or two bytes.
func (t trial) escapedFields() {
	ps, ok := t.pairsOf()
	if !ok {
		return
	}
	ps.texts(func(a, b fields.Field) {
		for _, sep := range t.drawnSeparators() {
			if b.Optional() {
				t.read(ps.in, b.Put(a.Put(ps.under, "xx"), "yy"), b.Without(a.Put(ps.under, "xx"+sep+"yy")), fmt.Sprintf("%s absent, and its value in %s behind %q", b.Name, a.Name, sep))
				t.read(ps.in, b.Put(a.Put(ps.under, "yy"), "xx"), b.Without(a.Put(ps.under, "xx"+sep+"yy")), fmt.Sprintf("%s absent, and its value in %s in front of %q", b.Name, a.Name, sep))
				t.read(ps.in, b.Without(a.Put(ps.under, "xx")), b.Put(a.Put(ps.under, "xx"), sep), fmt.Sprintf("%s absent, and %q", b.Name, sep))
			}
			if len(sep) != 1 || !strings.Contains(":|/,&;.-\n\x00", sep) {
				continue
			}
			for _, esc := range escapeCharacters {
				t.escapedPair(ps, a, b, sep, esc)
			}
		}
	})
	t.shortLengths(ps)
	t.escapedInside(ps)
	ps.each(func(a, b fields.Field) {
		for _, n := range []int{256, 65536} {
			long := strings.Repeat("p", n)
			from := b.Put(a.Put(ps.under, a.Value("x"+long)), b.Value("c"))
			to := b.Put(a.Put(ps.under, a.Value("x")), b.Value(long+"c"))
			t.read(ps.in, from, to, fmt.Sprintf("%d bytes moved from %s to %s: lengths are counted modulo %d", n, a.Name, b.Name, n))
		}
	})
}

// writtenAs pairs characters with the texts that formats write for them. A format that does not
// escape its escape character confuses a value that contains the text with one that contains
// the character.
var writtenAs = [][2]string{{"\n", `\n`}, {"\t", `\t`}, {"\r", `\r`}, {"\x00", `\0`}, {"\x00", `\x00`}, {"\x00", `\u0000`}, {"\x1f", `\x1f`}, {"\n", "%0A"}, {"\n", "%0a"}, {"\x00", "%00"},
	{":", "%3A"}, {":", `\:`}, {"|", "%7C"}, {"|", `\|`}, {"/", "~1"}, {"~", "~0"}, {"/", "%2F"}, {"&", "&amp;"}, {`"`, `\"`}, {"'", "''"}, {",", `\,`}, {",", "%2C"}, {" ", "%20"}, {" ", "+"},
	{"\n", `\\n`}, {"\x00", "\x00\x00"}, {"\x00", "\x00\x01"}, {"\n", " "}, {"=", "%3D"}, {"&", "%26"}, {"=", "=3D"}}

// escapedInside looks for values of one field that become equal by escaping.
func (t trial) escapedInside(ps boundFields) {
	for _, f := range ps.bound {
		if f.Property == codecs.BindsArguments {
			continue // JSON has its own escapes
		}
		for _, w := range writtenAs {
			t.read(ps.in, f.Put(ps.under, "xx"+w[0]+"yy"), f.Put(ps.under, "xx"+w[1]+"yy"), fmt.Sprintf("%q in %s is written as %q", w[0], f.Name, w[1]))
		}
	}
}

// shortLengths moves bytes across the border between two fields, as many as make a stored
// length overflow. The moved bytes contain the length of the other field, after the mark of a
// present field.
func (t trial) shortLengths(ps boundFields) {
	texts := slices.DeleteFunc(slices.Clone(ps.bound), func(f fields.Field) bool { return f.Property == codecs.BindsArguments })
	for i := 1; i < len(texts); i++ {
		for _, mark := range fieldMarks {
			t.overflowed(ps, texts[i-1], texts[i], string(mark)+"\x01", 1<<8)
		}
	}
	ps.texts(func(a, b fields.Field) {
		for i, mark := range []string{"", "\x01", "+", "\x00", "\x02", "\xff", "1", "s", "S", "T", "$"} {
			for _, length := range []string{"\x01", "\x00\x01", "\x01\x00"} {
				if i > 2 && len(length) > 1 {
					break // long values are expensive
				}
				t.overflowed(ps, a, b, mark+length, 1<<(8*len(length)))
			}
		}
	})
}

// fieldMarks are marks of a field that stand in front of its length, beside those that are tested with all
// pairs.
const fieldMarks = "\x03\x04\x05ABCDEabcdeMNPRtmnpr023456"

// overflowed moves head, the mark and the length 1 of the second field, with as many bytes as make a length
// overflow that is counted modulo n.
func (t trial) overflowed(ps boundFields, a, b fields.Field, head string, n int) {
	moved := strings.Repeat("p", n-len(head))
	t.read(ps.in, b.Put(a.Put(ps.under, "x"+head+moved), "c"), b.Put(a.Put(ps.under, "x"), moved+head+"c"),
		fmt.Sprintf("%s and %s with lengths modulo %d", a.Name, b.Name, n))
}

// escapeCharacters are the escape characters of known formats.
var escapeCharacters = []string{`\`, `%`, `^`, `"`, `'`, "`", "~", "=", "$", "&", "+"}

// escapedPair moves the border between two fields by an escape character at the end of the
// honest value, or by a doubled separator.
func (t trial) escapedPair(ps boundFields, a, b fields.Field, sep, esc string) {
	set := func(x, y string) codecs.Context { return b.Put(a.Put(ps.under, x), y) }
	how := fmt.Sprintf("%s and %s joined by %q with the escape %q", a.Name, b.Name, sep, esc)
	// The honest value ends in the escape character, so that the border reads as escaped.
	t.read(ps.in, set("xx"+esc, "yy"+sep+"zz"), set("xx"+esc+sep+"yy", "zz"), how)
	t.read(ps.in, set("xx"+esc, "yy"+sep+"zz"), set("xx"+sep+"yy"+esc, "zz"), how)
	t.read(ps.in, set("xx"+esc, sep+"yy"), set("xx"+sep, "yy"), how)
	if esc == `\` {
		for _, mark := range []string{"+", "1"} { // the mark of a present field
			t.read(ps.in, set("xx"+esc, "yy"+sep+mark+"zz"), set("xx"+sep+mark+"yy"+esc, "zz"), how+" and the mark "+mark)
		}
	}
	t.read(ps.in, set("xx"+sep+"yy", "zz"), set("xx"+esc+sep+"yy", "zz"), how)
	if b.Optional() {
		t.read(ps.in, set("xx"+esc, "yy"), b.Without(a.Put(ps.under, "xx"+esc+sep+"yy")), how+", with "+b.Name+" absent")
		t.read(ps.in, set("xx", "yy"), b.Without(a.Put(ps.under, "xx"+esc+sep+"yy")), how+", with "+b.Name+" absent")
	}
}
