package mcprb

import (
	"bytes"
	"math"
	"strconv"

	"sealab/codecs/internal/rawjson"
)

// generate prints values as the SDK's canonical JSON: members sorted by name,
// strings and numbers as JSON.generate has them.
var generate = &rawjson.Printer{
	Quoting: rawjson.NewQuoting(false, 0, `""\\`+"\nn\rr\tt\ff\bb", appendEscape),
	Number:  appendNumber, Members: rawjson.ByName,
}

func appendEscape(dst, text []byte, at int) ([]byte, int) {
	return rawjson.AppendHex(dst, rune(text[at]), rawjson.LowerHex), 1
}

// isFloat reports whether Ruby reads a literal as a float.
func isFloat(literal []byte) bool { return bytes.ContainsAny(literal, ".eE") }

// appendNumber appends a number as Ruby prints it: integers unchanged, floats with
// an exponent of at least two digits if it is under -4 or over 14.
func appendNumber(dst, literal []byte) []byte {
	if !isFloat(literal) {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		return append(dst, literal...)
	}
	v := rawjson.Value{Text: literal}
	f, format := v.Float(), byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e15) {
		format = 'e'
	}
	text := strconv.AppendFloat(nil, f, format, -1, 64)
	if bytes.Contains(text, []byte(".")) {
		return append(dst, text...)
	}
	digits, exponent, _ := bytes.Cut(text, []byte("e"))
	dst = append(append(dst, digits...), ".0"...)
	if format == 'f' {
		return dst
	}
	return append(append(dst, 'e'), exponent...)
}
