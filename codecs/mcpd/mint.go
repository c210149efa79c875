package mcpd

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *Scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	seed := make([]byte, s.SeedSize())
	keyring.Random(seed)
	return s.MintEdited(dst, seed, state, b, nil)
}

// SeedSize implements lab.SeededScheme: the seed is the nonce of the
// encrypted mode, and empty for the signed one.
func (s *Scheme) SeedSize() int { return s.mode.seedSize() }

// MintSeeded implements lab.SeededScheme.
func (s *Scheme) MintSeeded(dst, seed, state []byte, b *codecs.Context) ([]byte, error) {
	return s.MintEdited(dst, seed, state, b, nil)
}

// MintEdited implements lab.SchemeAssembler: lab.StepBind and
// lab.StepClaims, then the steps of the mode. A nonce that an edit leaves with
// another length than the cipher takes is codecs.ErrUnsupported.
func (s *Scheme) MintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != s.SeedSize() {
		return dst, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), s.SeedSize())
	}
	if !utf8.Valid(state) {
		return dst, codecs.ErrUnsupported
	}
	if err := b.Check(); err != nil {
		return dst, err
	}
	bind := edit.Give(lab.StepBind, s.bindTag(b))
	c := claims{state: state, bind: bind, expires: b.Now.Unix() + int64(s.ttl/time.Second)}
	text := edit.Give(lab.StepClaims, c.append(make([]byte, 0, 128+len(state))))
	return s.mode.protect(dst, seed, text, bind, edit)
}

// bindTag returns the tag of a binding.
func (s *Scheme) bindTag(b *codecs.Context) []byte {
	var sum [mac.Size]byte
	return lowerHex(s.mac.Append(sum[:0], s.material(b)))
}

// claims are what is protected.
type claims struct {
	state, bind []byte
	expires     int64
}

// append appends the claims as the SDK writes them.
func (c *claims) append(dst []byte) []byte {
	dst = vibeString.Append(append(dst, `{"s":`...), c.state)
	dst = vibeString.Append(append(dst, `,"b":`...), c.bind)
	dst = strconv.AppendInt(append(dst, `,"exp":`...), c.expires, 10)
	return append(dst, '}')
}

// vibeString prints strings as vibe.d's jsonEscape does: a / is escaped after a
// <, other control characters in upper case.
var vibeString = rawjson.NewQuoting(false, '/', `""\\`+"\nn\rr\tt", appendEscape)

func appendEscape(dst, text []byte, at int) ([]byte, int) {
	switch c := text[at]; {
	case c == '/' && at > 0 && text[at-1] == '<':
		return append(dst, '\\', '/'), 1
	case c == '/':
		return append(dst, '/'), 1
	default:
		return rawjson.AppendHex(dst, rune(c), rawjson.UpperHex), 1
	}
}
