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

// secrets are the keys that a client sent to its worker, the oldest first. A
// worker may quote them in texts that a person or a log sees.
type secrets struct {
	all   []secret
	clean map[string]bool // texts without a secret
}

// A secret is a key and its spellings.
type secret struct {
	key   string
	forms []string
}

// maxSecrets is the number of secrets that are remembered. Secrets outside the
// lengths in bytes are not searched for: shorter ones occur in texts by chance,
// and longer ones are cut before they are shown.
const (
	maxSecrets  = 256
	maxClean    = 256
	minRedacted = 8
	maxRedacted = 1 << 10
)

// add remembers the secrets of a ring.
func (s *secrets) add(ring [][]byte) {
	for _, key := range ring {
		if len(key) < minRedacted || len(key) > maxRedacted || slices.ContainsFunc(s.all, func(known secret) bool { return known.key == string(key) }) {
			continue
		}
		s.all = append(s.all[max(0, len(s.all)+1-maxSecrets):], secret{string(key), spellings(string(key))})
	}
}

// redact replaces every secret in a text, as it is or in an encoding that programs
// print: base64 in both alphabets, hexadecimal, the escapes of Go and Python, and
// lists of numbers.
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
		s.clean[text] = true // also of later secrets, which it cannot quote yet
	}
	return out
}

// redacted returns an answer of the worker without the secrets that it may quote.
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

// spellings are the texts in which a program may print a secret.
func spellings(secret string) []string {
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

// pythonEscapes is the text between the quotes of Python's repr of bytes.
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
