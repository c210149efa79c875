package mcpd

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/keyring"
)

// unbound is the binding where the caller has none.
var unbound codecs.Binding

// unchanged is the edit that leaves everything as it is.
func unchanged(_ codecs.Step, value []byte) []byte { return value }

// Mint implements codecs.Scheme.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	seed := make([]byte, s.SeedSize())
	keyring.Random(seed)
	return s.MintEdited(dst, seed, state, b, now, unchanged)
}

// SeedSize implements codecs.SeededScheme: the seed is the nonce of the
// encrypted mode, and empty for the signed one.
func (s *Scheme) SeedSize() int { return s.mode.seedSize() }

// MintSeeded implements codecs.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Binding, now time.Time) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, now, unchanged)
}

// MintEdited implements codecs.SchemeAssembler: codecs.StepBind and
// codecs.StepClaims, then the steps of the mode. A nonce that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported.
func (s *Scheme) MintEdited(dst, seed, state []byte, b *codecs.Binding, now time.Time, edit codecs.Edit) ([]byte, error) {
	if len(seed) != s.SeedSize() {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), s.SeedSize())
	}
	if !utf8.Valid(state) {
		return dst, codecs.ErrUnsupported
	}
	if b == nil {
		b = &unbound
	}
	bind := edit(codecs.StepBind, s.macs.bindTag(s.material(b)))
	c := claims{state: state, bind: bind, expires: now.Unix() + int64(s.ttl/time.Second)}
	text := edit(codecs.StepClaims, c.append(make([]byte, 0, 128+len(state))))
	return s.mode.protect(dst, seed, text, bind, edit)
}

// claims are what is protected.
type claims struct {
	state, bind []byte
	expires     int64
}

// append appends the claims as the SDK writes them.
func (c *claims) append(dst []byte) []byte {
	dst = appendString(append(dst, `{"s":`...), c.state)
	dst = appendString(append(dst, `,"b":`...), c.bind)
	dst = strconv.AppendInt(append(dst, `,"exp":`...), c.expires, 10)
	return append(dst, '}')
}

const hexDigits = "0123456789ABCDEF"

// letters are the escapes of one letter.
var letters = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}

// appendString appends text as vibe.d's jsonEscape prints it: a / is escaped
// after a <, other control characters in upper case.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for i, c := range text {
		switch {
		case letters[c] != 0:
			dst = append(dst, '\\', letters[c])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c == '/' && i > 0 && text[i-1] == '<':
			dst = append(dst, '\\', '/')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
