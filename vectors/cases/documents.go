package cases

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sealab/internal/lab"
)

// documentCases alters the claims as one text before sealing.
func documentCases(s *Scene) []Case {
	return documentsOf(s, slices.Concat(documentTexts, syntaxErrors))
}

// fewTexts are the changes of whole claims in a format with few vectors.
var fewTexts = []string{
	"empty", "null", "number", "string", "array", "object", "wrapped", "cut", "space-front", "space-end", "second-document", "bom",
	"invalid-utf-8", "surrogate-utf-8-text", "extra", "extra-nan", "proto", "surrogate-item", "surrogate-own-name", "surrogate-nested", "deep-100", "deep-600",
}

// unclosedCases omits the last character of the claims.
func unclosedCases(s *Scene) []Case {
	return documentsOf(s, slices.DeleteFunc(slices.Clone(documentTexts), func(a Alteration) bool { return a.Name != "cut" }))
}

// fewDocumentCases is documentCases for a format with few vectors.
func fewDocumentCases(s *Scene) []Case {
	return documentsOf(s, slices.DeleteFunc(slices.Clone(documentTexts), func(a Alteration) bool { return !slices.Contains(fewTexts, a.Name) }))
}

// claimByteCases changes claims that are not JSON: it changes each byte, truncates binary claims and
// changes each number.
func claimByteCases(s *Scene) []Case {
	text, ok := s.Trace.Find(claimsStep)
	if !ok || json.Valid(text) {
		return nil
	}
	var cs []Case
	add := func(name, doc string, change func([]byte) []byte) {
		cs = append(cs, documentCase(name, " with "+doc, change))
	}
	for i := 0; i < len(text); i += 1 + len(text)/maxClaimBytes {
		add(fmt.Sprintf("byte-%d", i), fmt.Sprintf("the lowest bit of byte %d flipped", i), Flip(i, 1))
	}
	for _, at := range numberPattern.FindAllIndex(text, maxClaimBytes) {
		add(fmt.Sprintf("zero-%d", at[0]), fmt.Sprintf("a zero in front of the number at byte %d", at[0]), func(b []byte) []byte {
			return slices.Insert(b, at[0], '0')
		})
		if at[1]-at[0] < timeDigits {
			continue
		}
		add(fmt.Sprintf("digits-%d", at[0]), fmt.Sprintf("a number of 20 digits at byte %d", at[0]), func(b []byte) []byte {
			return slices.Replace(b, at[0], at[1], bytes.Repeat([]byte("9"), 20)...)
		})
	}
	add("zeros", "eight zero bytes in front", func(b []byte) []byte { return append(make([]byte, 8), b[min(8, len(b)):]...) })
	if !bytes.ContainsFunc(text, unicode.IsControl) {
		return cs
	}
	for _, i := range sampledPlaces(len(text)) {
		if i >= len(text)/2 {
			add(fmt.Sprintf("cut-%d", i), fmt.Sprintf("the first %d bytes alone", i), cutTo(i))
		}
		if unicode.IsControl(rune(text[i])) {
			if end := i + 2 + int(text[i]); text[i] != 0 && end <= len(text) {
				for _, last := range []byte{0x7f, 0xff} {
					add(fmt.Sprintf("grown-%d-%x", i, last), fmt.Sprintf("two bytes more at the end of the number whose length is byte %d", i), func(b []byte) []byte {
						b[i] += 2
						return slices.Insert(b, end, 0xff, last)
					})
				}
			}
			add(fmt.Sprintf("high-%d", i), fmt.Sprintf("the highest bit of byte %d flipped", i), Flip(i, 0x80))
		}
	}
	return cs
}

// compressedCases seals compressed claims after a dot, as Django and itsdangerous write long ones.
func compressedCases(s *Scene) []Case {
	step := At{Step: lab.StepText}
	text, ok := s.Trace.Find(claimsStep)
	if _, encoded := s.Trace.Find(step); !ok || !encoded {
		return nil
	}
	var cs []Case
	add := func(name, doc string, deflated []byte) {
		cs = append(cs, Case{
			Name: "compressed" + name, Doc: "authentic claims, compressed" + doc, Flags: []string{flagDocument},
			Edit: onlyStep(step, setTo([]byte("."+base64.RawURLEncoding.EncodeToString(deflated)))),
		})
	}
	whole := deflate(text)
	add("", "", whole)
	add("-cut", ", without the checksum", whole[:len(whole)-4])
	add("-header", ", with another header", append([]byte{0x79}, whole[1:]...))
	return cs
}

// deflate returns text as zlib data (RFC 1950) of stored blocks, which every release of Go writes
// identically.
func deflate(text []byte) []byte {
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.NoCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer accepts every write
	}
	return out.Bytes()
}

// maxClaimBytes is the largest number of cases of each kind that claimByteCases makes.
const maxClaimBytes = 64

var numberPattern = regexp.MustCompile(`\b[0-9]+\b`)

func documentsOf(s *Scene, all []Alteration) []Case {
	if _, ok := s.Trace.Find(claimsStep); !ok {
		return nil
	}
	var cs []Case
	for _, a := range all {
		cs = append(cs, documentCase(a.Name, ": "+a.Doc, a.Change))
	}
	return cs
}

// documentCase returns the case that changes the whole claims. Its doc continues "authentic claims".
func documentCase(name, doc string, change func([]byte) []byte) Case {
	return Case{Name: "claims-" + name, Doc: "authentic claims" + doc, Flags: []string{flagDocument}, Edit: onlyStep(claimsStep, change)}
}

// documentTexts are the alterations of a JSON text.
var documentTexts = []Alteration{
	{Name: "empty", Doc: "nothing", Change: cutTo(0)},
	{Name: "null", Doc: "null", Change: setTo([]byte("null"))},
	{Name: "true", Doc: "true", Change: setTo([]byte("true"))},
	{Name: "number", Doc: "a number", Change: setTo([]byte("1"))},
	{Name: "string", Doc: "a string", Change: setTo([]byte(`"x"`))},
	{Name: "array", Doc: "an array", Change: setTo([]byte("[]"))},
	{Name: "object", Doc: "the empty object", Change: setTo([]byte("{}"))},
	{Name: "wrapped", Doc: "in an array", Change: func(b []byte) []byte { return append(append([]byte{'['}, b...), ']') }},
	{Name: "cut", Doc: "without the last character", Change: func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{Name: "space-front", Doc: "a space in front", Change: prependText(" ")},
	{Name: "space-end", Doc: "a space at the end", Change: appendText(" ")},
	{Name: "newline-end", Doc: "a line feed at the end", Change: appendText("\n")},
	{Name: "nul-end", Doc: "a NUL at the end", Change: appendText("\x00")},
	{Name: "nbsp-front", Doc: "a no-break space in front", Change: prependText("\u00a0")},
	{Name: "nbsp-end", Doc: "a no-break space at the end", Change: appendText("\u00a0")},
	{Name: "wide-space-end", Doc: "an ideographic space and a line separator at the end", Change: appendText("\u3000\u2028")},
	{Name: "zero-width-end", Doc: "a zero-width space at the end, which is none to Unicode", Change: appendText("\u200b")},
	{Name: "ff-front", Doc: "a form feed in front", Change: prependText("\f")},
	{Name: "comma-end", Doc: "a comma at the end", Change: appendText(",")},
	{Name: "brace-end", Doc: "a further brace at the end", Change: appendText("}")},
	{Name: "second-document", Doc: "a second object at the end", Change: appendText("{}")},
	{Name: "trailing-comma", Doc: "a comma after the last member", Change: func(b []byte) []byte { return append(b[:len(b)-1], ",}"...) }},
	{Name: "leading-comma", Doc: "a comma before the first member", Change: replaceFirst("{", "{,")},
	{Name: "comment", Doc: "a comment in front", Change: prependText("/**/")},
	{Name: "single-quotes", Doc: "single quotation marks", Change: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"`), []byte("'")) }},
	{Name: "bom", Doc: "a byte order mark in front", Change: prependText("\ufeff")},
	{Name: "utf-16le", Doc: "in UTF-16, little-endian", Change: widenBytes(0, 1)},
	{Name: "utf-16be", Doc: "in UTF-16, big-endian", Change: widenBytes(1, 0)},
	{Name: "utf-32le", Doc: "in UTF-32, little-endian", Change: widenBytes(0, 3)},
	{Name: "invalid-utf-8", Doc: "a string that is not UTF-8", Change: prependMember("\"\xff\"")},
	{Name: "surrogate-utf-8-text", Doc: "a text with a surrogate as UTF-8", Change: setTo([]byte("\"\xed\xa0\x80\""))},
	{Name: "overlong-utf-8", Doc: "a string with an overlong form", Change: prependMember("\"\xc0\xaf\"")},
	{Name: "surrogate-utf-8", Doc: "a string with a surrogate as UTF-8", Change: prependMember("\"\xed\xa0\x80\"")},
	{Name: "control", Doc: "a string with a raw control character", Change: prependMember("\"\x01\"")},
	{Name: "bad-escape", Doc: "a string with an escape that does not exist", Change: prependMember(`"\x"`)},
	{Name: "extra", Doc: "a further member", Change: prependMember("1")},
	{Name: "extra-nan", Doc: "a further member that is NaN", Change: prependMember("NaN")},
	{Name: "proto", Doc: "a member __proto__", Change: replaceFirst("{", `{"__proto__":{"exp":99999999999},`)},
	{Name: "utf-16le-odd", Doc: "in UTF-16, one byte too long", Change: composeChanges(widenBytes(0, 1), appendText("x"))},
	{Name: "utf-16be-odd", Doc: "in UTF-16, one byte short", Change: composeChanges(widenBytes(1, 0), func(b []byte) []byte { return b[:len(b)-1] })},
	{Name: "utf-32be", Doc: "in UTF-32, big-endian", Change: widenBytes(3, 0)},
	{Name: "utf-32le-odd", Doc: "in UTF-32, one byte too long", Change: composeChanges(widenBytes(0, 3), appendText("x"))},
	{Name: "utf-32le-beyond", Doc: "in UTF-32, with a number that is no character", Change: composeChanges(prependMember(`"?"`), composeChanges(widenBytes(0, 3), func(b []byte) []byte {
		return bytes.Replace(b, []byte{'?', 0, 0, 0}, []byte{0, 0, 0x11, 0}, 1)
	}))},
	{Name: "surrogate-item", Doc: "a list with a lone surrogate", Change: prependMember(`["\ud800"]`)},
	{Name: "surrogate-name", Doc: "a name that is a lone surrogate", Change: prependMember(`{"\ud800":1}`)},
	{Name: "surrogate-name-in-list", Doc: "a name in a list that is a lone surrogate", Change: prependMember(`[{"\ud800":1}]`)},
	{Name: "surrogate-low-name", Doc: "a name that is a lone low surrogate", Change: prependMember(`{"\udc00":1}`)},
	{Name: "surrogate-low-name-in-list", Doc: "a name in a list that is a lone low surrogate", Change: prependMember(`[{"\udc00":1}]`)},
	{Name: "surrogate-low-own-name", Doc: "a further member whose name is a lone low surrogate", Change: replaceFirst("{", `{"\udc00":1,`)},
	{Name: "surrogate-nested", Doc: "a lone surrogate two objects deep", Change: prependMember(`{"a":{"b":"\udc00"}}`)},
	{Name: "surrogate-own-name", Doc: "a further member whose name is a lone surrogate", Change: replaceFirst("{", `{"\ud800":1,`)},
	{Name: "surrogate-high-letter", Doc: "a high surrogate before a letter", Change: prependMember(`"\ud83d\u0041"`)},
	{Name: "surrogate-letter-low", Doc: "a low surrogate after a letter", Change: prependMember(`"\u0041\ude00"`)},
	{Name: "surrogate-swapped", Doc: "a surrogate pair in the wrong order", Change: prependMember(`"\ude00\ud83d"`)},
	{Name: "surrogate-five", Doc: "a high surrogate and five letters", Change: prependMember(`"\ud83dabcde"`)},
	{Name: "surrogate-six", Doc: "a high surrogate and six letters", Change: prependMember(`"\ud83dabcdef"`)},
	{Name: "surrogate-two-high", Doc: "two high surrogates", Change: prependMember(`"\ud83d\ud83d"`)},
	{Name: "surrogate-half-escape", Doc: "a high surrogate and half an escape", Change: prependMember(`"\ud83d\u00zz"`)},
	{Name: "surrogate-loose", Doc: "a high surrogate and a low one with a letter for its backslash", Change: prependMember(`"\ud83dxude00"`)},
	{Name: "surrogate-loose-high", Doc: "two high surrogates, the second with a letter for its backslash", Change: prependMember(`"\ud83dxud83d"`)},
	{Name: "surrogate-loose-digits", Doc: "a high surrogate and the digits of a low one behind two characters", Change: prependMember(`"\ud83d--de00"`)},
	{Name: "surrogate-pair", Doc: "a surrogate pair", Change: prependMember(`"\ud83d\ude00"`)},
	{Name: "long-integer", Doc: "an integer of 4,301 digits, more than Python converts", Change: prependMember(strings.Repeat("1", 4301))},
	{Name: "long-float", Doc: "a number with 4,301 digits after the point", Change: prependMember("1." + strings.Repeat("1", 4301))},
	{Name: "deep-objects-101", Doc: "objects nested 101 deep", Change: prependMember(strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101))},
	{Name: "deep-100", Doc: "nested 100 deep", Change: nestedMember(100)},
	{Name: "deep-600", Doc: "nested 600 deep", Change: nestedMember(600)},
	{Name: "deep-1100", Doc: "nested 1,100 deep", Change: nestedMember(1100)},
}

// composeChanges returns the change that applies first and then second.
func composeChanges(first, second func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte { return second(first(b)) }
}

// prependMember returns the change that inserts one more member, x, at the front.
func prependMember(text string) func([]byte) []byte { return replaceFirst("{", `{"x":`+text+`,`) }

func nestedMember(depth int) func([]byte) []byte {
	return prependMember(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// widenBytes returns the change that puts zero bytes before and after each byte.
func widenBytes(before, after int) func([]byte) []byte {
	return func(b []byte) []byte {
		var out []byte
		for _, c := range b {
			out = append(out, make([]byte, before)...)
			out = append(out, c)
			out = append(out, make([]byte, after)...)
		}
		return out
	}
}

// syntaxErrors holds syntax errors in one member of a JSON text. Some lenient parser accepts each of them.
var syntaxErrors = func() []Alteration {
	var as []Alteration
	for i, f := range []struct{ doc, member string }{
		{"a name without its first quotation mark", `'x":1`},
		{"a name without quotation marks", `x:1`},
		{"a name that is a number", `1:1`},
		{"an equals sign for a colon", `"x"=1`},
		{"no colon", `"x"1`},
		{"two colons", `"x"::1`},
		{"no value", `"x":`},
		{"two values", `"x":1 1`},
		{"a semicolon for a comma", `"x":1;"y":2`},
		{"nil for null", `"x":nil`},
		{"null in capitals", `"x":NULL`},
		{"true with a letter more", `"x":truex`},
		{"an undefined word", `"x":undefined`},
		{"a minus sign alone", `"x":-`},
		{"a minus sign and a letter", `"x":-a`},
		{"a number with a bare point", `"x":1.`},
		{"a number that begins with a point", `"x":.5`},
		{"a number with a bare exponent", `"x":1e`},
		{"a number with a signed bare exponent", `"x":1e+`},
		{"a number with two points", `"x":1.2.3`},
		{"a number in hex", `"x":0xff`},
		{"a number with an underscore", `"x":1_000`},
		{"a list without commas", `"x":[1 2]`},
		{"a list with a comma at its end", `"x":[1,]`},
		{"a list with a hole", `"x":[1,,2]`},
		{"a list that a brace closes", `"x":[1}`},
		{"an object that a bracket closes", `"x":{"y":1]`},
		{"an object with a comma at its end", `"x":{"y":1,}`},
		{"an object with a value and no name", `"x":{1}`},
		{"a string over two lines", "\"x\":\"a\nb\""},
		{"a tab in a string, after an escape", "\"x\":\"\\n\t\""},
		{"an escape of one letter that does not exist", `"x":"\q"`},
		{"an escape of three digits", `"x":"\u12g4"`},
		{"an escape of a NUL", `"x":"\u0000"`},
		{"an escape in hex", `"x":"\x41"`},
		{"an escape of a line feed", "\"x\":\"\\\n\""},
		{"a line comment", "\"x\":1//\n"},
		{"a block comment", `"x":/**/1`},
		{"a block comment with a slash", `"x":/*/1`},
		{"a slash", `"x":/1`},
		{"a comment sign of another language", "\"x\":1#\n"},
	} {
		as = append(as, Alteration{
			Name: fmt.Sprintf("syntax-%d", i), Doc: f.doc,
			Change: func(b []byte) []byte { return []byte(strings.Replace(string(b), "{", "{"+f.member+",", 1)) },
		})
	}
	for i, end := range []string{`{"x":"`, `{"x":"\`, `{"x":"\u`, `{"x":"\u12`, `{"x":"\ud83d\u`, `{"x":1/*`, `{"x":1//`, `{"x":tru`, `{"x":[`,
		`{"x":[1`, `{"x":[1,`, `{"x"`, `{`, `{"x":-`, `{"x":1e`, `"`, "/*", `{"x":"\ud83d`, `{"x":"\ud83dx`} {
		as = append(as, Alteration{Name: fmt.Sprintf("ends-%d", i), Doc: fmt.Sprintf("the text %q and no more", end), Change: setTo([]byte(end))})
	}
	return as
}()
