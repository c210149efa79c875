package mcprb

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"sealab/codecs/internal/rawjson"
)

// A digester appends the claim for raw arguments, which are nil if absent, as a
// quoted string. It fails if they have no digest.
type digester func(dst []byte, raw json.RawMessage) ([]byte, error)

// digesters maps the values of the option digest to functions.
var digesters = map[string]digester{
	digestSDK:   canonicalDigest,
	digestGiven: givenDigest,
}

// emptyObject is digested in place of absent arguments.
var emptyObject = []byte("{}")

func canonicalDigest(dst []byte, raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return appendDigest(dst, emptyObject), nil
	}
	//mutant:equivalent a vector's context cannot hold the bytes
	if !utf8.Valid(raw) {
		return nil, errNotUTF8
	}
	if out, ok := appendPlainDigest(dst, raw); ok {
		return out, nil
	}
	v, err := parseUTF8(raw)
	if err != nil {
		return nil, err
	}
	if !isPrintable(&v) {
		return nil, fmt.Errorf("the arguments hold what Ruby cannot print")
	}
	return appendDigest(dst, generate.AppendValue(make([]byte, 0, len(raw)), &v)), nil
}

// appendPlainDigest appends the digest of raw if it is in the usual form;
// otherwise it reports false. It uses the spare capacity of dst if there is
// enough, and clears all that it does not return.
func appendPlainDigest(dst, raw []byte) ([]byte, bool) {
	room := slices.Grow(dst, 2*len(raw)) // the maximum that AppendPlain writes
	used := room[len(dst) : len(dst)+2*len(raw)]
	text, ok := generate.AppendPlain(room, raw)
	if !ok {
		clear(used)
		return dst, false
	}
	text = text[len(dst):]
	if string(text) == "null" || string(text) == "false" {
		text = emptyObject
	}
	sum := sha256.Sum256(text)
	clear(used)
	return appendHex(dst, &sum), true
}

func appendDigest(dst, canonical []byte) []byte {
	sum := sha256.Sum256(canonical)
	return appendHex(dst, &sum)
}

// appendHex appends a digest as a quoted string.
func appendHex(dst []byte, digest *[sha256.Size]byte) []byte {
	return append(rawjson.AppendHexDigest(append(dst, '"'), digest), '"')
}

func givenDigest(dst []byte, raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return generate.Append(dst, nil), nil
	}
	v, err := parseUTF8(raw)
	if err != nil {
		return nil, err
	}
	if v.Kind != rawjson.String {
		return nil, fmt.Errorf("the arguments are no string that could be a digest")
	}
	return generate.Append(dst, v.Text), nil
}

var errNotUTF8 = errors.New("not JSON: the arguments are not UTF-8")

func parseUTF8(raw []byte) (rawjson.Value, error) {
	//mutant:equivalent a vector's context cannot hold the bytes, and in claims a second check finds them
	if !utf8.Valid(raw) {
		return rawjson.Value{}, errNotUTF8
	}
	return rawjson.Parse(raw)
}

// isPrintable reports whether Ruby can print a value. It raises an error for
// infinite numbers and for strings that are not UTF-8.
func isPrintable(v *rawjson.Value) bool {
	switch v.Kind {
	case rawjson.Number:
		return !math.IsInf(v.Float(), 0) || !isFloat(v.Text)
	case rawjson.String:
		return utf8.Valid(v.Text)
	}
	for i := range v.Items {
		if !isPrintable(&v.Items[i]) {
			return false
		}
	}
	for _, m := range rawjson.FirstPlaces(v.Members) { // Ruby prints the last value of a repeated name
		if !utf8.Valid(m.Name) || !isPrintable(&m.Value) {
			return false
		}
	}
	return true
}

// generate prints values as the SDK's canonical JSON: members sorted by name,
// strings and numbers as JSON.generate prints them.
var generate = &rawjson.Printer{
	Quoting: rawjson.NewQuoting(false, 0, `""\\`+"\nn\rr\tt\ff\bb", rawjson.EscapeByte),
	Number:  appendNumber, Members: rawjson.ByName,
}

// isFloat reports whether Ruby reads a literal as a float.
func isFloat(literal []byte) bool { return bytes.ContainsAny(literal, ".eE") }

// appendNumber appends a number as Ruby prints it. Integers stay unchanged,
// except -0, which becomes 0. A float is printed with an exponent, of at least
// two digits, if that is under -4 or over 14. A float under 1e16 with a
// fraction has none.
func appendNumber(dst, literal []byte) []byte {
	if !isFloat(literal) {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		return append(dst, literal...)
	}
	v := rawjson.Value{Text: literal}
	f, format := v.Float(), byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e15 && a == math.Trunc(a)) {
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
