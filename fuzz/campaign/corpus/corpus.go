// Package corpus reads and writes fuzz inputs in the formats of go test -fuzz,
// go-fuzz, libFuzzer and OSS-Fuzz.
//
// A file of go test -fuzz holds one input of one byte slice, quoted as a Go
// string:
//
//	go test fuzz v1
//	[]byte("...")
//
// In a cache folder its name is the digest of its contents.
package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

const (
	header = "go test fuzz v1\n"
	before = "[]byte("
	after  = ")"
)

var errFormat = errors.New("want \"go test fuzz v1\" and one line with a []byte")

// Marshal returns the contents of the native file for input.
func Marshal(input []byte) []byte {
	return fmt.Appendf(nil, "%s%s%q%s\n", header, before, input, after)
}

// Unmarshal returns the input in the contents of a native file.
func Unmarshal(file []byte) ([]byte, error) {
	line, ok := bytes.CutPrefix(file, []byte(header))
	line = bytes.TrimSuffix(line, []byte("\n"))
	line, opened := bytes.CutPrefix(line, []byte(before))
	line, closed := bytes.CutSuffix(line, []byte(after))
	if !ok || !opened || !closed {
		return nil, errFormat
	}
	input, err := strconv.Unquote(string(line))
	if err != nil {
		return nil, errFormat
	}
	return []byte(input), nil
}

// Name returns the name of a native file with the given contents: the first 16
// hexadecimal digits of their SHA-256.
func Name(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:8])
}
