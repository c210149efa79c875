// Package keyfile reads a ring of secrets from a file.
//
// A file that is valid UTF-8 is text, with one secret per line; the first
// seals. Blank lines and lines that begin with '#' are ignored. A byte order
// mark and white space around a secret are ignored too. A line with only
// hexadecimal digits is hexadecimal. Other lines are base64 in either alphabet,
// padded or not.
//
// A file that is not valid UTF-8 is raw: the whole file is one secret of 32 to
// 128 bytes, as "head -c 32 /dev/urandom" makes it. It is refused if it looks
// like text in another encoding.
//
// A file that its group or others can read or write is refused. Make one with
//
//	(umask 077; head -c 32 /dev/urandom > secret.key)
//
// The package does not check the strength of secrets, which designs do. Errors
// never quote the contents of a file.
package keyfile

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"
)

const (
	// maxSize is the maximum length of a key file in bytes. A ring of 1,000
	// secrets in hexadecimal takes 65 KB.
	maxSize = 1 << 20

	minRaw, maxRaw = 32, 128 // bytes

	how = "make one with: (umask 077; head -c 32 /dev/urandom > secret.key)"
)

// Read returns the secrets in the file at path, in order.
func Read(path string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	defer f.Close()
	if err := checkMode(f); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	secrets, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("key file %s%w", path, err)
	}
	return secrets, nil
}

// checkMode refuses a file that users other than its owner can read or write.
func checkMode(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	const others = 0o077
	if mode := info.Mode(); mode.IsRegular() && mode.Perm()&others != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("key file %s: mode %04o lets others than its owner use it: want 0600: chmod 600 %[1]s", f.Name(), mode.Perm())
	}
	return nil
}

// Parse returns the secrets in the contents of a key file, in order. Its errors
// continue a text that names the file.
func Parse(data []byte) ([][]byte, error) {
	switch {
	case len(data) > maxSize:
		return nil, fmt.Errorf(": longer than %d bytes", maxSize)
	case utf8.Valid(data):
		return parseText(bytes.TrimPrefix(data, []byte("\ufeff")))
	case len(data) < minRaw || len(data) > maxRaw:
		return nil, fmt.Errorf(": %d bytes that are not UTF-8: want text, or one raw secret of %d to %d bytes", len(data), minRaw, maxRaw)
	case looksLikeText(data):
		return nil, fmt.Errorf(": text that is not UTF-8: want UTF-8, or one raw secret")
	}
	return [][]byte{bytes.Clone(data)}, nil
}

// looksLikeText reports whether seven of eight bytes are printable ASCII, line
// ends or zero, as in Latin-1 and UTF-16. For 32 random bytes the probability
// is below 10^-8.
func looksLikeText(data []byte) bool {
	n := 0
	for _, b := range data {
		if b == 0 || b == '\t' || b == '\n' || b == '\r' || ' ' <= b && b <= '~' {
			n++
		}
	}
	return n >= len(data)*7/8
}

func parseText(text []byte) ([][]byte, error) {
	var secrets [][]byte
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		secret, ok := decode(string(line))
		if !ok {
			return nil, fmt.Errorf(", line %d: want one secret in hexadecimal or base64", n)
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf(" holds no secret: %s", how)
	}
	return secrets, nil
}

func decode(line string) ([]byte, bool) {
	if strings.Trim(line, "0123456789abcdefABCDEF") == "" {
		secret, err := hex.DecodeString(line)
		return secret, err == nil
	}
	for _, e := range []*base64.Encoding{
		base64.RawStdEncoding, base64.RawURLEncoding, base64.StdEncoding, base64.URLEncoding,
	} {
		// The decoders of package base64 skip line ends.
		if secret, err := e.Strict().DecodeString(line); err == nil && !strings.ContainsAny(line, "\r\n") {
			return secret, true
		}
	}
	return nil, false
}
