package identify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxFields is the largest number of fields that are read from a macaroon.
const maxFields = 1000

// parseMacaroon2 parses the binary format of version 2: sections of fields with type, length and content,
// each ended by a zero byte, then an empty section and a signature of 32 bytes.
func parseMacaroon2(token string) ([]Field, func([]byte) bool, bool) {
	const location, identifier, verification, signature = 1, 2, 4, 6
	names := map[byte]string{location: "location", identifier: "identifier", verification: "verification-id"}
	b, ok := decodeRawURL(strings.TrimRight(strings.TrimPrefix(token, "pypi-"), "="))
	if !ok || len(b) == 0 || b[0] != 2 {
		return nil, nil, false
	}
	var fields []Field
	empty := true // the current section
	for b = b[1:]; len(b) > 0 && len(fields) < maxFields; {
		if b[0] == 0 && empty {
			return fields, nil, len(fields) > 0 && len(b) == 3+sha256.Size && b[1] == signature && b[2] == sha256.Size
		}
		if b[0] == 0 {
			b, empty = b[1:], true
			continue
		}
		n, size := binary.Uvarint(b[1:])
		if names[b[0]] == "" || size <= 0 || n > uint64(len(b)-1-size) {
			return nil, nil, false
		}
		content := b[1+size:][:n]
		field := opaqueField(names[b[0]], content)
		if b[0] != verification && utf8.Valid(content) {
			field = readableField(names[b[0]], content)
		}
		fields, b, empty = append(fields, field), b[1+size+int(n):], false
	}
	return nil, nil, false
}

var secureCookie = regexp.MustCompile(`^([0-9]{9,11})\|([A-Za-z0-9_-]+={0,2})\|`)

// parseSecureCookie parses a time, a value in base64url and an HMAC-SHA256, all encoded in base64url. It
// tries no keys, because the tag also covers the name of the cookie.
func parseSecureCookie(token string) ([]Field, func([]byte) bool, bool) {
	b, ok := decodeRawURL(strings.TrimRight(token, "="))
	m := secureCookie.FindSubmatch(b)
	if !ok || m == nil || len(b)-len(m[0]) != sha256.Size {
		return nil, nil, false
	}
	value, ok := decodeRawURL(strings.TrimRight(string(m[2]), "="))
	return []Field{timeField(string(m[1])), opaqueField("value", value), opaqueField("tag", b[len(m[0]):])}, nil, ok
}

var tornadoCookie = regexp.MustCompile(`^2\|1:[0-9]\|10:([0-9]{10})\|([0-9]+):([^|]*)\|([0-9]+):([A-Za-z0-9+/]*={0,2})\|([0-9a-f]{64})$`)

func parseTornado(token string) ([]Field, func([]byte) bool, bool) {
	m := tornadoCookie.FindStringSubmatch(token)
	if m == nil || m[2] != strconv.Itoa(len(m[3])) || m[4] != strconv.Itoa(len(m[5])) {
		return nil, nil, false
	}
	value, ok := decodeStd(m[5])
	tag, _ := hex.DecodeString(m[6])
	signed := strings.TrimSuffix(token, m[6])
	return []Field{timeField(m[1]), readableField("name", []byte(m[3])), readableField("value", value), opaqueField("tag", tag)}, macOpens(sha256.New, signed, tag), ok
}

// timeField returns a field for the time of a token in Unix seconds.
func timeField(seconds string) Field {
	f := readableField("time", []byte(seconds))
	if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
		f.Time = time.Unix(n, 0).UTC().Format(time.RFC3339)
	}
	return f
}
