package mcprb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"sealab/codecs/rawjson"
)

// digester returns the claim that stands for raw arguments, nil where there are
// none. It fails where they have no digest.
type digester func(raw json.RawMessage) (string, error)

// digesters are the values of the option digest.
var digesters = map[string]digester{
	digestSDK:   canonicalDigest,
	digestGiven: givenDigest,
}

func canonicalDigest(raw json.RawMessage) (string, error) {
	canonical := []byte("{}")
	if raw != nil {
		v, err := parseUTF8(raw)
		if err != nil {
			return "", err
		}
		if v.Kind != rawjson.Null && v.Kind != rawjson.False {
			if canonical, err = appendValue(nil, &v); err != nil {
				return "", err
			}
		}
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

func givenDigest(raw json.RawMessage) (string, error) {
	if raw == nil {
		return "", nil
	}
	v, err := parseUTF8(raw)
	if err != nil {
		return "", err
	}
	if v.Kind != rawjson.String {
		return "", fmt.Errorf("sealab: the arguments are no string that could be a digest")
	}
	return string(v.Text), nil
}

func parseUTF8(raw []byte) (rawjson.Value, error) {
	if !utf8.Valid(raw) {
		return rawjson.Value{}, fmt.Errorf("sealab: not JSON: the arguments are not UTF-8")
	}
	return rawjson.Parse(raw)
}

// appendValue appends the SDK's canonical JSON of a value. It fails on what Ruby
// cannot print: infinite numbers, and strings that are not UTF-8.
func appendValue(dst []byte, v *rawjson.Value) ([]byte, error) {
	switch v.Kind {
	case rawjson.True:
		return append(dst, "true"...), nil
	case rawjson.False:
		return append(dst, "false"...), nil
	case rawjson.Number:
		return appendNumber(dst, v.Text)
	case rawjson.String:
		return appendText(dst, v.Text)
	case rawjson.Array:
		return appendArray(dst, v.Items)
	case rawjson.Object:
		return appendObject(dst, v.Members)
	default:
		return append(dst, "null"...), nil
	}
}

func appendArray(dst []byte, items []rawjson.Value) ([]byte, error) {
	dst = append(dst, '[')
	for i := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, &items[i]); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendObject sorts the members by name. The last value of a repeated name
// counts.
func appendObject(dst []byte, members []rawjson.Member) ([]byte, error) {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b rawjson.Member) int { return bytes.Compare(a.Name, b.Name) })
	dst = append(dst, '{')
	for i, m := range sorted {
		if i+1 < len(sorted) && bytes.Equal(m.Name, sorted[i+1].Name) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendText(dst, m.Name); err != nil {
			return dst, err
		}
		if dst, err = appendValue(append(dst, ':'), &m.Value); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendText(dst, text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return dst, fmt.Errorf("sealab: a string of the arguments holds a lone surrogate")
	}
	return appendString(dst, text), nil
}

// appendNumber appends a number as Ruby prints it: integers as they are, floats
// with an exponent of two digits or more where it is under -4 or over 14.
func appendNumber(dst, literal []byte) ([]byte, error) {
	if !bytes.ContainsAny(literal, ".eE") {
		if string(literal) == "-0" {
			literal = literal[1:]
		}
		return append(dst, literal...), nil
	}
	f, _ := strconv.ParseFloat(string(literal), 64) // the parser has seen to the syntax; out of range is infinite
	if math.IsInf(f, 0) {
		return dst, fmt.Errorf("sealab: a number of the arguments is out of range")
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e15) {
		text := strconv.AppendFloat(nil, f, 'e', -1, 64)
		if !bytes.Contains(text, []byte(".")) {
			text = bytes.Replace(text, []byte("e"), []byte(".0e"), 1)
		}
		return append(dst, text...), nil
	}
	text := strconv.AppendFloat(nil, f, 'f', -1, 64)
	if !bytes.Contains(text, []byte(".")) {
		text = append(text, ".0"...)
	}
	return append(dst, text...), nil
}

const hexDigits = "0123456789abcdef"

// letters are the escapes of one letter.
var letters = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\f': 'f', '\b': 'b'}

// appendString appends UTF-8 text as JSON.generate prints it.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case letters[c] != 0:
			dst = append(dst, '\\', letters[c])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
