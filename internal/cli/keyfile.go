package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxKeyFile is the length in bytes of the longest key file: a ring of 1,000
// secrets in hexadecimal takes 65 KB.
const maxKeyFile = 1 << 20

// ReadKeys returns the secrets in the key file at path, in order. The first
// seals.
//
// A file of printable ASCII, tabs and line ends is text, with one secret per
// line. Blank lines and lines that begin with '#' are ignored. A line of
// hexadecimal digits alone is hexadecimal; any other is base64 in either
// alphabet, padded or not. Space around a secret is ignored.
//
// Any other file is raw: all of it is one secret, as "head -c 32 /dev/urandom"
// makes it.
//
// ReadKeys does not judge the strength of secrets: designs do. Errors never
// quote the contents of the file.
func ReadKeys(path string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if len(data) > maxKeyFile {
		return nil, fmt.Errorf("key file %s: longer than %d bytes", path, maxKeyFile)
	}
	if !isText(data) {
		return [][]byte{data}, nil
	}
	return parseKeys(path, data)
}

// isText reports whether data is printable ASCII, tabs and line ends. 32 random
// bytes are text with probability 2^-44.
func isText(data []byte) bool {
	for _, b := range data {
		if (b < ' ' || b > '~') && b != '\t' && b != '\n' && b != '\r' {
			return false
		}
	}
	return true
}

// parseKeys reads the secrets of a text.
func parseKeys(path string, text []byte) ([][]byte, error) {
	var secrets [][]byte
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		secret, ok := decodeKey(string(line))
		if !ok {
			return nil, fmt.Errorf("key file %s, line %d: want one secret in hexadecimal or base64", path, n)
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf("key file %s holds no secret: make one with: (umask 077; head -c 32 /dev/urandom > secret.key)", path)
	}
	return secrets, nil
}

func decodeKey(line string) ([]byte, bool) {
	if strings.Trim(line, "0123456789abcdefABCDEF") == "" {
		secret, err := hex.DecodeString(line)
		return secret, err == nil
	}
	for _, e := range []*base64.Encoding{
		base64.RawStdEncoding, base64.RawURLEncoding, base64.StdEncoding, base64.URLEncoding,
	} {
		if secret, err := e.Strict().DecodeString(line); err == nil {
			return secret, true
		}
	}
	return nil, false
}
