package identify

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"strings"
)

// splitJOSE returns the segments and the header of a JWS or JWE.
func splitJOSE(token string, segments int) (parts []string, header map[string]any, text []byte) {
	parts = strings.Split(token, ".")
	if len(parts) != segments {
		return nil, nil, nil
	}
	text, ok := decodeRawURL(parts[0])
	if !ok || json.Unmarshal(text, &header) != nil || header["alg"] == nil {
		return nil, nil, nil
	}
	return parts, header, text
}

func parseJWS(token string) ([]Field, func([]byte) bool, bool) {
	fields, header, tag, signed := splitJWS(token)
	if header["alg"] != "HS256" || len(tag) != sha256.Size {
		return nil, nil, false
	}
	return fields, macOpens(sha256.New, signed, tag), true
}

func parseOtherJWS(token string) ([]Field, func([]byte) bool, bool) {
	fields, header, tag, signed := splitJWS(token)
	if fields == nil || header["alg"] == "HS256" {
		return nil, nil, false
	}
	switch header["alg"] {
	case "HS384":
		return fields, macOpens(sha512.New384, signed, tag), true
	case "HS512":
		return fields, macOpens(sha512.New, signed, tag), true
	}
	return fields, nil, true
}

func splitJWS(token string) (fields []Field, header map[string]any, tag []byte, signed string) {
	parts, header, text := splitJOSE(token, 3)
	if parts == nil || header["enc"] != nil {
		return nil, nil, nil, ""
	}
	payload, ok1 := decodeRawURL(parts[1])
	tag, ok2 := decodeRawURL(parts[2])
	if !ok1 || !ok2 {
		return nil, nil, nil, ""
	}
	body := readableField("payload", payload)
	body.Time = timeIn(payload)
	return []Field{readableField("header", text), body, opaqueField("signature", tag)}, header, tag, parts[0] + "." + parts[1]
}

// joseEncryptions maps the algorithms of RFC 7518, section 5.1, to the base64url lengths of their
// initialization vectors and tags.
var joseEncryptions = map[any]struct{ iv, tag int }{
	"A128GCM": {16, 22}, "A192GCM": {16, 22}, "A256GCM": {16, 22},
	"A128CBC-HS256": {22, 22}, "A192CBC-HS384": {22, 32}, "A256CBC-HS512": {22, 43},
}

func parseJWE(token string) ([]Field, func([]byte) bool, bool) {
	parts, header, text := splitJOSE(token, 5)
	if parts == nil || header["enc"] == nil {
		return nil, nil, false
	}
	if enc, known := joseEncryptions[header["enc"]]; known && (len(parts[2]) != enc.iv || len(parts[4]) != enc.tag) {
		return nil, nil, false
	}
	encrypted, ok := encryptedFields(parts)
	return append([]Field{readableField("header", text)}, encrypted...), nil, ok
}

// encryptedFields returns the fields after the header of a token of five parts.
func encryptedFields(parts []string) ([]Field, bool) {
	var fields []Field
	for i, name := range []string{"encrypted-key", "iv", "ciphertext", "tag"} {
		b, ok := decodeRawURL(parts[i+1])
		if !ok {
			return nil, false
		}
		fields = append(fields, opaqueField(name, b))
	}
	return fields, true
}

func parseAuthJS(token string) ([]Field, func([]byte) bool, bool) {
	fields, _, ok := parseJWE(token)
	if !ok {
		return nil, nil, false
	}
	var header struct{ Alg, Enc, Kid string }
	if json.Unmarshal([]byte(fields[0].Text), &header) != nil || header.Alg != "dir" || header.Enc != "A256CBC-HS512" {
		return nil, nil, false
	}
	kid, ok := decodeRawURL(header.Kid)
	return append(fields, Field{Name: "key-check value (SHA-512 of the key)", Bytes: len(kid), Text: header.Kid}), nil, ok && len(kid) == sha512.Size
}
