package framework

import (
	"bytes"
	"crypto/cipher"
	"encoding/base64"
	"slices"
	"unicode/utf8"

	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// An Encoding writes bytes as text.
type Encoding interface {
	AppendEncode(dst, src []byte) []byte
	AppendDecode(dst, src []byte) ([]byte, error)
}

// A Part is a piece of a token: either one field as text, or fields that are
// encoded together.
type Part struct {
	Encoding Encoding // nil: the only field is text
	Fields   []Piece
}

// A Piece is the value of one wire field.
type Piece struct {
	Step  lab.Step
	Value []byte
}

// Text returns a part that is not encoded.
func Text(step lab.Step, value []byte) Part { return Part{nil, []Piece{{step, value}}} }

// Encoded returns a part with one encoded field.
func Encoded(e Encoding, step lab.Step, value []byte) Part {
	return Part{e, []Piece{{step, value}}}
}

// Join appends the token of the parts to dst. edit is applied to each field,
// and to the text of each encoded part.
func Join(dst []byte, edit lab.Edit, parts ...Part) []byte {
	for _, p := range parts {
		if p.Encoding == nil {
			dst = append(dst, edit.Apply(p.Fields[0].Step, p.Fields[0].Value)...)
			continue
		}
		var raw []byte
		for _, f := range p.Fields {
			raw = append(raw, edit.Apply(f.Step, f.Value)...)
		}
		n := len(dst)
		dst = edit.Tail(lab.WireText, p.Encoding.AppendEncode(dst, raw), n)
	}
	return dst
}

// Fields returns the fields of a token of the given parts, for Inspect. Fields
// of the readable steps, and all text, are readable.
func Fields(readable []lab.Step, parts ...Part) []lab.Field {
	var out []lab.Field
	for _, p := range parts {
		for i, f := range p.Fields {
			field := lab.Field{Name: f.Step, Bytes: f.Value, Readable: p.Encoding == nil || slices.Contains(readable, f.Step)}
			switch {
			case p.Encoding == nil:
				field.Wire = f.Value
			case i == 0:
				var raw []byte
				for _, g := range p.Fields {
					raw = append(raw, g.Value...)
				}
				field.Wire = p.Encoding.AppendEncode(nil, raw)
			}
			out = append(out, field)
		}
	}
	return out
}

// DecodeURL decodes canonical base64url without padding.
func DecodeURL(text []byte) ([]byte, bool) { return base64url.AppendDecode(nil, text) }

// Decode decodes text if it is the canonical output of e.
func Decode(e Encoding, text []byte) ([]byte, bool) {
	raw, err := e.AppendDecode(nil, text)
	return raw, err == nil && string(e.AppendEncode(nil, raw)) == string(text)
}

// alphabet maps the characters of both base64 alphabets to their values, and
// others to 0xff.
var alphabet = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// PythonDecode decodes text as CPython's base64.urlsafe_b64decode does. It
// skips characters outside both alphabets, and ignores spare bits and all text
// after complete padding.
func PythonDecode(text []byte) (out []byte, ok bool) {
	var left byte
	quad, pads := 0, 0
	for _, c := range text {
		if c == '=' {
			if quad >= 2 {
				if pads++; quad+pads >= 4 {
					return out, true
				}
			}
			continue
		}
		v := alphabet[c]
		if v == 0xff {
			continue
		}
		pads = 0
		switch quad {
		case 1:
			out = append(out, left<<2|v>>4)
		case 2:
			out = append(out, left<<4|v>>2)
		case 3:
			out = append(out, left<<6|v)
		}
		left, quad = v, (quad+1)%4
	}
	return out, quad == 0
}

// AtobDecode appends text decoded as JavaScript's atob does, with - and _ for +
// and /. It skips white space, and ignores spare bits and correct padding
// (WHATWG Infra Standard, "forgiving base64").
func AtobDecode(dst, text []byte) ([]byte, bool) {
	clean := make([]byte, 0, len(text))
	for _, c := range text {
		switch c {
		case ' ', '\t', '\n', '\f', '\r':
		case '-':
			clean = append(clean, '+')
		case '_':
			clean = append(clean, '/')
		default:
			clean = append(clean, c)
		}
	}
	if len(clean)%4 == 0 {
		clean = bytes.TrimSuffix(clean, []byte("="))
		clean = bytes.TrimSuffix(clean, []byte("="))
	}
	out, err := base64.RawStdEncoding.AppendDecode(dst, clean)
	return out, err == nil
}

// PaddedDecode pads text to a multiple of four characters and appends it
// decoded by e, which has the standard alphabet, with - and _ for + and /.
func PaddedDecode(e Encoding, dst, text []byte) ([]byte, bool) {
	if bytes.ContainsAny(text, "\r\n") {
		return dst, false // Go's decoder would skip them
	}
	text = bytes.ReplaceAll(text, []byte("-"), []byte("+"))
	text = bytes.ReplaceAll(text, []byte("_"), []byte("/"))
	out, err := e.AppendDecode(dst, Padded(text))
	return out, err == nil
}

// PHPDecode appends the result of PHP's base64_decode in strict mode. It skips
// white space, accepts correct padding, and ignores spare bits.
func PHPDecode(dst, text []byte) ([]byte, bool) {
	clean, padding := make([]byte, 0, len(text)), 0
	for _, c := range text {
		switch {
		case c == '=':
			padding++
		case c == '\n' || c == '\r' || c == '\t' || c == ' ':
		case padding > 0:
			return dst, false
		default:
			clean = append(clean, c)
		}
	}
	if padding > 2 || padding > 0 && (len(clean)+padding)%4 != 0 {
		return dst, false
	}
	out, err := base64.RawStdEncoding.AppendDecode(dst, clean)
	if err != nil {
		return dst, false
	}
	return out, true
}

// TextEncode encodes UTF-16 text, given as WTF-8, as a TextEncoder does. Lone
// surrogates and bytes that are not WTF-8 become U+FFFD.
func TextEncode(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := rawjson.DecodeRune(text)
		out = utf8.AppendRune(out, r) // U+FFFD for surrogates
		text = text[n:]
	}
	return out
}

// TextDecode decodes UTF-8 as a TextDecoder does without fatal (WHATWG
// Encoding). It skips a byte order mark and replaces each maximal part of an
// ill-formed sequence.
func TextDecode(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(text)
		}
		out = utf8.AppendRune(out, r)
		text = text[n:]
	}
	return out
}

// illFormed returns the length of the maximal part of an ill-formed sequence
// that begins like UTF-8 (Unicode, section 3.9, table 3-7).
func illFormed(text []byte) int {
	low, high, size := byte(0x80), byte(0xbf), 0
	switch b := text[0]; {
	case b < 0xc2 || b > 0xf4:
		return 1
	case b < 0xe0:
		size = 2
	case b < 0xf0:
		size = 3
	default:
		size = 4
	}
	switch text[0] {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for n < size && n < len(text) && low <= text[n] && text[n] <= high {
		n, low, high = n+1, 0x80, 0xbf
	}
	return n
}

// Padded returns text with the padding that libraries add before they decode
// it.
func Padded(text []byte) []byte {
	return append(slices.Clone(text), "==="[:(4-len(text)%4)%4]...)
}

// SealCBC encrypts plaintext with PKCS #7 padding.
func SealCBC(block cipher.Block, iv, plaintext []byte) []byte {
	size := block.BlockSize()
	pad := size - len(plaintext)%size
	out := append(make([]byte, 0, len(plaintext)+pad), plaintext...)
	for range pad {
		out = append(out, byte(pad))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out
}

// OpenCBC decrypts an authenticated ciphertext. It reports false if a length or
// the padding is wrong.
func OpenCBC(block cipher.Block, iv, ciphertext []byte) ([]byte, bool) {
	size, n := block.BlockSize(), len(ciphertext)
	//mutant:equivalent sealing takes no vector of another size, and formats that do not authenticate it compare first
	if len(iv) != size || n == 0 || n%size != 0 {
		return nil, false
	}
	out := make([]byte, n)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, ciphertext)
	pad := int(out[n-1])
	//mutant:equivalent the ciphertext is authentic, and sealing makes no such plaintext
	if pad < 1 || pad > size {
		return nil, false
	}
	for _, b := range out[n-pad:] {
		//mutant:equivalent the ciphertext is authentic, and sealing makes no such plaintext
		if int(b) != pad {
			return nil, false
		}
	}
	return out[:n-pad], true
}

// PHPQuoting quotes strings as json_encode does by default.
var PHPQuoting = rawjson.NewQuoting(true, '/', `""\\//`+"\nn\rr\tt\ff\bb", rawjson.EscapeRune)
