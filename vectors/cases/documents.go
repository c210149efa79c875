package cases

import (
	"bytes"
	"slices"
	"strings"

	"sealab/internal/lab"
	"sealab/vectors/kit"
)

// documents alters the claims as one text before sealing.
func documents(s *Scene) []Case {
	if _, ok := s.Trace.Find(claimsStep); !ok {
		return nil
	}
	var cs []Case
	for _, a := range slices.Concat(texts, syntax) {
		cs = append(cs, Case{
			Name: "claims-" + a.Name, Doc: "authentic claims: " + a.Doc, Flags: []string{flagDocument},
			Edit: kit.Only(kit.At{Step: lab.StepClaims}, a.Change),
		})
	}
	return cs
}

// texts are the alterations of a JSON text.
var texts = []kit.Alteration{
	{Name: "empty", Doc: "nothing", Change: kit.Cut(0)},
	{Name: "null", Doc: "null", Change: kit.Set([]byte("null"))},
	{Name: "true", Doc: "true", Change: kit.Set([]byte("true"))},
	{Name: "number", Doc: "a number", Change: kit.Set([]byte("1"))},
	{Name: "string", Doc: "a string", Change: kit.Set([]byte(`"x"`))},
	{Name: "array", Doc: "an array", Change: kit.Set([]byte("[]"))},
	{Name: "object", Doc: "the empty object", Change: kit.Set([]byte("{}"))},
	{Name: "wrapped", Doc: "in an array", Change: func(b []byte) []byte { return append(append([]byte{'['}, b...), ']') }},
	{Name: "cut", Doc: "without the last character", Change: func(b []byte) []byte { return b[:max(len(b)-1, 0)] }},
	{Name: "space-front", Doc: "a space in front", Change: kit.Prepend(" ")},
	{Name: "space-end", Doc: "a space at the end", Change: kit.Append(" ")},
	{Name: "newline-end", Doc: "a line feed at the end", Change: kit.Append("\n")},
	{Name: "nul-end", Doc: "a NUL at the end", Change: kit.Append("\x00")},
	{Name: "nbsp-front", Doc: "a no-break space in front", Change: kit.Prepend("\u00a0")},
	{Name: "nbsp-end", Doc: "a no-break space at the end", Change: kit.Append("\u00a0")},
	{Name: "wide-space-end", Doc: "an ideographic space and a line separator at the end", Change: kit.Append("\u3000\u2028")},
	{Name: "zero-width-end", Doc: "a zero-width space at the end, which is none to Unicode", Change: kit.Append("\u200b")},
	{Name: "ff-front", Doc: "a form feed in front", Change: kit.Prepend("\f")},
	{Name: "comma-end", Doc: "a comma at the end", Change: kit.Append(",")},
	{Name: "brace-end", Doc: "a further brace at the end", Change: kit.Append("}")},
	{Name: "second-document", Doc: "a second object at the end", Change: kit.Append("{}")},
	{Name: "trailing-comma", Doc: "a comma after the last member", Change: func(b []byte) []byte { return append(b[:len(b)-1], ",}"...) }},
	{Name: "leading-comma", Doc: "a comma before the first member", Change: replaceFirst("{", "{,")},
	{Name: "comment", Doc: "a comment in front", Change: kit.Prepend("/**/")},
	{Name: "single-quotes", Doc: "single quotation marks", Change: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"`), []byte("'")) }},
	{Name: "bom", Doc: "a byte order mark in front", Change: kit.Prepend("\ufeff")},
	{Name: "utf-16le", Doc: "in UTF-16, little-endian", Change: utf16(0, 1)},
	{Name: "utf-16be", Doc: "in UTF-16, big-endian", Change: utf16(1, 0)},
	{Name: "utf-32le", Doc: "in UTF-32, little-endian", Change: utf16(0, 3)},
	{Name: "invalid-utf-8", Doc: "a string that is not UTF-8", Change: member("\"\xff\"")},
	{Name: "overlong-utf-8", Doc: "a string with an overlong form", Change: member("\"\xc0\xaf\"")},
	{Name: "surrogate-utf-8", Doc: "a string with a surrogate as UTF-8", Change: member("\"\xed\xa0\x80\"")},
	{Name: "control", Doc: "a string with a raw control character", Change: member("\"\x01\"")},
	{Name: "bad-escape", Doc: "a string with an escape that does not exist", Change: member(`"\x"`)},
	{Name: "extra", Doc: "a further member", Change: member("1")},
	{Name: "extra-nan", Doc: "a further member that is NaN", Change: member("NaN")},
	{Name: "proto", Doc: "a member __proto__", Change: replaceFirst("{", `{"__proto__":{"exp":99999999999},`)},
	{Name: "utf-16le-odd", Doc: "in UTF-16, one byte too long", Change: then(utf16(0, 1), kit.Append("x"))},
	{Name: "utf-16be-odd", Doc: "in UTF-16, one byte short", Change: then(utf16(1, 0), func(b []byte) []byte { return b[:len(b)-1] })},
	{Name: "utf-32be", Doc: "in UTF-32, big-endian", Change: utf16(3, 0)},
	{Name: "utf-32le-odd", Doc: "in UTF-32, one byte too long", Change: then(utf16(0, 3), kit.Append("x"))},
	{Name: "utf-32le-beyond", Doc: "in UTF-32, with a number that is no character", Change: then(member(`"?"`), then(utf16(0, 3), func(b []byte) []byte {
		return bytes.Replace(b, []byte{'?', 0, 0, 0}, []byte{0, 0, 0x11, 0}, 1)
	}))},
	{Name: "surrogate-item", Doc: "a list with a lone surrogate", Change: member(`["\ud800"]`)},
	{Name: "surrogate-name", Doc: "a name that is a lone surrogate", Change: member(`{"\ud800":1}`)},
	{Name: "surrogate-name-in-list", Doc: "a name in a list that is a lone surrogate", Change: member(`[{"\ud800":1}]`)},
	{Name: "surrogate-low-name", Doc: "a name that is a lone low surrogate", Change: member(`{"\udc00":1}`)},
	{Name: "surrogate-low-name-in-list", Doc: "a name in a list that is a lone low surrogate", Change: member(`[{"\udc00":1}]`)},
	{Name: "surrogate-low-own-name", Doc: "a further member whose name is a lone low surrogate", Change: replaceFirst("{", `{"\udc00":1,`)},
	{Name: "surrogate-nested", Doc: "a lone surrogate two objects deep", Change: member(`{"a":{"b":"\udc00"}}`)},
	{Name: "surrogate-own-name", Doc: "a further member whose name is a lone surrogate", Change: replaceFirst("{", `{"\ud800":1,`)},
	{Name: "surrogate-high-letter", Doc: "a high surrogate before a letter", Change: member(`"\ud83d\u0041"`)},
	{Name: "surrogate-letter-low", Doc: "a low surrogate after a letter", Change: member(`"\u0041\ude00"`)},
	{Name: "surrogate-swapped", Doc: "a surrogate pair in the wrong order", Change: member(`"\ude00\ud83d"`)},
	{Name: "surrogate-five", Doc: "a high surrogate and five letters", Change: member(`"\ud83dabcde"`)},
	{Name: "surrogate-six", Doc: "a high surrogate and six letters", Change: member(`"\ud83dabcdef"`)},
	{Name: "surrogate-two-high", Doc: "two high surrogates", Change: member(`"\ud83d\ud83d"`)},
	{Name: "surrogate-half-escape", Doc: "a high surrogate and half an escape", Change: member(`"\ud83d\u00zz"`)},
	{Name: "surrogate-loose", Doc: "a high surrogate and a low one with a letter for its backslash", Change: member(`"\ud83dxude00"`)},
	{Name: "surrogate-loose-high", Doc: "two high surrogates, the second with a letter for its backslash", Change: member(`"\ud83dxud83d"`)},
	{Name: "surrogate-loose-digits", Doc: "a high surrogate and the digits of a low one behind two characters", Change: member(`"\ud83d--de00"`)},
	{Name: "surrogate-pair", Doc: "a surrogate pair", Change: member(`"\ud83d\ude00"`)},
	{Name: "long-integer", Doc: "an integer of 4,301 digits, more than Python converts", Change: member(strings.Repeat("1", 4301))},
	{Name: "long-float", Doc: "a number with 4,301 digits after the point", Change: member("1." + strings.Repeat("1", 4301))},
	{Name: "deep-objects-101", Doc: "objects nested 101 deep", Change: member(strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101))},
	{Name: "deep-100", Doc: "nested 100 deep", Change: nested(100)},
	{Name: "deep-600", Doc: "nested 600 deep", Change: nested(600)},
	{Name: "deep-1100", Doc: "nested 1,100 deep", Change: nested(1100)},
}

// then returns the change that applies first and then second.
func then(first, second func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte { return second(first(b)) }
}

// member returns the change that inserts one more member, x, at the front.
func member(text string) func([]byte) []byte { return replaceFirst("{", `{"x":`+text+`,`) }

func nested(depth int) func([]byte) []byte {
	return member(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

// utf16 returns the change that puts zero bytes before and after each byte.
func utf16(before, after int) func([]byte) []byte {
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
