package cases

import (
	"fmt"
	"strings"

	"sealab/vectors/kit"
)

// syntax holds syntax errors in one member of a JSON text. A laxer grammar
// accepts each of them.
var syntax = func() []kit.Alteration {
	var as []kit.Alteration
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
		as = append(as, kit.Alteration{
			Name: fmt.Sprintf("syntax-%d", i), Doc: f.doc,
			Change: func(b []byte) []byte { return []byte(strings.Replace(string(b), "{", "{"+f.member+",", 1)) },
		})
	}
	for i, end := range []string{`{"x":"`, `{"x":"\`, `{"x":"\u`, `{"x":"\u12`, `{"x":"\ud83d\u`, `{"x":1/*`, `{"x":1//`, `{"x":tru`, `{"x":[`, `{"x":[1`, `{"x":[1,`, `{"x"`, `{`, `{"x":-`, `{"x":1e`, `"`, "/*", `{"x":"\ud83d`, `{"x":"\ud83dx`} {
		as = append(as, kit.Alteration{Name: fmt.Sprintf("ends-%d", i), Doc: fmt.Sprintf("the text %q and no more", end), Change: kit.Set([]byte(end))})
	}
	return as
}()
