package compactjson

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"sealab/codecs/internal/rawjson"
)

// claims is the dialect of json.loads with its limits. MaxDepth approximates
// the recursion limit of CPython for a parse that begins inside a server.
var claims = rawjson.Dialect{NonFinite: true, MaxDepth: 900}

// maxDigits is CPython's limit for the digits of an integer.
const maxDigits = 4300

// Loads parses bytes as json.loads does, which also accepts UTF-16 and UTF-32.
// It has the limits of LoadsText.
func Loads(doc []byte) (rawjson.Value, error) {
	text, ok := decode(doc)
	if !ok {
		return rawjson.Value{}, fmt.Errorf("not JSON: the document is in no encoding that json.loads takes")
	}
	return LoadsText(text)
}

// LoadsText parses a text, given as UTF-8 with lone surrogates, as json.loads
// parses a str. It refuses integers of more than 4300 digits and nesting of
// more than 900.
func LoadsText(text []byte) (rawjson.Value, error) {
	if !rawjson.Valid(text) {
		return rawjson.Value{}, errNotUTF8
	}
	v, err := claims.Parse(text)
	if err == nil && hasLongInteger(&v) {
		return rawjson.Value{}, fmt.Errorf("not JSON: an integer has more than %d digits", maxDigits)
	}
	return v, err
}

func hasLongInteger(v *rawjson.Value) bool {
	if v.Kind == rawjson.Number {
		return !IsFloat(v.Text) && len(bytes.TrimPrefix(v.Text, []byte("-"))) > maxDigits
	}
	for i := range v.Items {
		if hasLongInteger(&v.Items[i]) {
			return true
		}
	}
	for i := range v.Members {
		if hasLongInteger(&v.Members[i].Value) {
			return true
		}
	}
	return false
}

// decode converts a document to generalized UTF-8. It detects the encoding by
// the rules of json.detect_encoding.
func decode(doc []byte) (text []byte, ok bool) {
	le, be := binary.LittleEndian, binary.BigEndian
	switch {
	case bytes.HasPrefix(doc, []byte("\x00\x00\xfe\xff")):
		return fromUTF32(be, doc[4:])
	case bytes.HasPrefix(doc, []byte("\xff\xfe\x00\x00")):
		return fromUTF32(le, doc[4:])
	case bytes.HasPrefix(doc, []byte("\xfe\xff")):
		return fromUTF16(be, doc[2:])
	case bytes.HasPrefix(doc, []byte("\xff\xfe")):
		return fromUTF16(le, doc[2:])
	case bytes.HasPrefix(doc, []byte("\xef\xbb\xbf")):
		return doc[3:], rawjson.Valid(doc[3:])
	case len(doc) == 2 && doc[0] == 0, len(doc) >= 4 && doc[0] == 0 && doc[1] != 0:
		return fromUTF16(be, doc)
	case len(doc) >= 4 && doc[0] == 0:
		return fromUTF32(be, doc)
	case len(doc) == 2 && doc[1] == 0, len(doc) >= 4 && doc[1] == 0 && doc[2]|doc[3] != 0:
		return fromUTF16(le, doc)
	case len(doc) >= 4 && doc[1] == 0:
		return fromUTF32(le, doc)
	}
	return doc, rawjson.Valid(doc)
}

func fromUTF16(order binary.ByteOrder, s []byte) (text []byte, ok bool) {
	if len(s)%2 != 0 {
		return nil, false
	}
	for len(s) > 0 {
		r := rune(order.Uint16(s))
		s = s[2:]
		if len(s) > 0 {
			if both := utf16.DecodeRune(r, rune(order.Uint16(s))); both != 0xfffd {
				r, s = both, s[2:]
			}
		}
		text = rawjson.AppendRune(text, r)
	}
	return text, true
}

func fromUTF32(order binary.ByteOrder, s []byte) (text []byte, ok bool) {
	if len(s)%4 != 0 {
		return nil, false
	}
	for ; len(s) > 0; s = s[4:] {
		r := order.Uint32(s)
		if r > 0x10ffff {
			return nil, false
		}
		text = rawjson.AppendRune(text, rune(r))
	}
	return text, true
}
