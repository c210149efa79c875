package worker

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sealab/codecs"
)

// secrets holds the keys that a client sent to its worker, oldest first. A
// worker may quote them in texts that are shown or logged.
type secrets struct {
	all   []secret
	clean map[string]bool // texts without a secret
}

// A secret is a key and its encodings.
type secret struct {
	key   string
	forms []string
}

// maxSecrets is the number of secrets that are kept. Secrets shorter than
// minRedacted or longer than maxRedacted bytes are not searched for: short ones
// occur by chance, and long ones are truncated before they are shown.
const (
	maxSecrets  = 256
	maxClean    = 256
	minRedacted = 8
	maxRedacted = 1 << 10
)

// add adds the secrets of a ring.
func (s *secrets) add(ring [][]byte) {
	for _, key := range ring {
		if len(key) < minRedacted || len(key) > maxRedacted || slices.ContainsFunc(s.all, func(known secret) bool { return known.key == string(key) }) {
			continue
		}
		s.all = append(s.all[max(0, len(s.all)+1-maxSecrets):], secret{string(key), printedForms(string(key))})
	}
}

// redact replaces every secret in a text, whether plain or in an encoding that
// programs print: base64 in both alphabets, hexadecimal, the escapes of Go and
// Python, and lists of numbers.
func (s *secrets) redact(text string) string {
	if s == nil || text == "" || s.clean[text] {
		return text
	}
	out := text
	for _, secret := range s.all {
		for _, form := range secret.forms {
			out = strings.ReplaceAll(out, form, "[secret]")
		}
	}
	if out == text && len(s.clean) < maxClean {
		if s.clean == nil {
			s.clean = map[string]bool{}
		}
		s.clean[text] = true // the text came before any later secret, so it cannot quote that
	}
	return out
}

// redacted returns an error of the worker with the secrets in it redacted.
func (s *secrets) redacted(err error) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return &RefusedError{s.redact(refused.Why)}
	}
	if rejected := codecs.Rejected(err); rejected != nil {
		if reason := s.redact(rejected.Reason); reason != rejected.Reason {
			return codecs.Reject(rejected.Stage, reason)
		}
	}
	return err
}

// printedForms returns the encodings in which a program may print a secret.
func printedForms(secret string) []string {
	b := []byte(secret)
	quoted := strconv.Quote(secret)
	ascii := strconv.QuoteToASCII(secret)
	numbers := strings.Trim(fmt.Sprint(b), "[]")
	return []string{
		secret,
		base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b),
		hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)),
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1], pythonEscapes(b),
		numbers, strings.ReplaceAll(numbers, " ", ","), strings.ReplaceAll(numbers, " ", ", "),
	}
}

// pythonEscapes returns the text between the quotes of Python's repr of bytes.
func pythonEscapes(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		switch {
		case c == '\\':
			text.WriteString(`\\`)
		case c == '\n':
			text.WriteString(`\n`)
		case c == '\r':
			text.WriteString(`\r`)
		case c == '\t':
			text.WriteString(`\t`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&text, `\x%02x`, c)
		default:
			text.WriteByte(c)
		}
	}
	return text.String()
}
