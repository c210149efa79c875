package skeleton

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// InZlib compresses bytes.
func InZlib(plain []byte, level int) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		panic("broken: " + err.Error()) // the levels are constants of compress/flate
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}

// InJSON encodes a value that always has a JSON encoding.
func InJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("broken: " + err.Error())
	}
	return text
}

// JoinText encodes parts in base64url, joined by full stops.
func JoinText(parts ...[]byte) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = base64.RawURLEncoding.EncodeToString(p)
	}
	return strings.Join(texts, ".")
}

// SplitText decodes n parts.
func SplitText(token string, n int) ([][]byte, error) {
	texts := strings.Split(token, ".")
	if len(texts) != n {
		return nil, ErrMalformed
	}
	parts := make([][]byte, n)
	for i, text := range texts {
		var ok bool
		if parts[i], ok = DecodeCanonical(text); !ok {
			return nil, ErrMalformed
		}
	}
	return parts, nil
}

// DecodeCanonical decodes unpadded base64url. It accepts only one spelling.
func DecodeCanonical(text string) ([]byte, bool) {
	raw, err := strictBase64URL.DecodeString(text)
	skips := strings.IndexByte(text, '\r') >= 0 || strings.IndexByte(text, '\n') >= 0 // the library skips them
	return raw, err == nil && !skips
}

var strictBase64URL = base64.RawURLEncoding.Strict()
