// Package corpus reads and writes fuzz inputs in the format of go test -fuzz.
//
// A file holds one input of one byte slice:
//
//	go test fuzz v1
//	[]byte("...")
//
// with the bytes as a quoted Go string. A file in a cache folder is called
// after its own contents, which is how a damaged one is recognised.
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

// Marshal returns input as the contents of a native corpus file.
func Marshal(input []byte) []byte {
	return fmt.Appendf(nil, "%s%s%q%s\n", header, before, input, after)
}

// Unmarshal returns the input that the contents of a native corpus file hold.
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

// Name returns what go test -fuzz calls the file with the given contents: the
// first 16 hexadecimal digits of their SHA-256.
func Name(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:8])
}
