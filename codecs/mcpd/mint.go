package mcpd

import (
	"strconv"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/mac"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	room := base64url.GetScratch()
	defer room.Free()
	room.Grow(s.mode.seedSize())
	seed := room.Bytes[:s.mode.seedSize()]
	keyring.Random(seed)
	return s.mint(dst, seed, state, b, nil)
}

// mint mints in steps that edit may change: lab.StepBind and lab.StepClaims,
// then the steps of the mode. The seed is the nonce of the encrypted mode, and
// empty for the signed one. If an edit changes the length of the nonce, the
// error is codecs.ErrUnsupported.
func (s *scheme) mint(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	if !rawjson.ValidUTF8(state) {
		return dst, codecs.ErrUnsupported
	}
	if err := b.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Wipe(0)
	work.Bytes = s.appendBindTag(work.Bytes, b)
	bind := edit.Give(lab.StepBind, work.Bytes)
	n := len(work.Bytes)
	c := claims{state: state, bind: bind, expires: b.Now.Unix() + int64(s.ttl/time.Second)}
	work.Grow(128 + len(state)*9/8)
	work.Bytes = c.append(work.Bytes)
	text := edit.Give(lab.StepClaims, work.Bytes[n:])
	return s.mode.protect(dst, seed, text, bind, edit)
}

// appendBindTag appends the tag of a context to dst. It uses the spare capacity
// of dst as working space.
func (s *scheme) appendBindTag(dst []byte, c *codecs.Context) []byte {
	material := s.material(dst, c)
	sum := s.mac.Append(material, material[len(dst):])[len(material):]
	return append(dst, rawjson.AppendHexDigest(sum[len(sum):], (*[mac.Size]byte)(sum))...)
}

// claims are the protected members.
type claims struct {
	state, bind []byte
	expires     int64
}

// The text before each claim, and after the last.
const (
	beforeState   = `{"s":`
	beforeBind    = `,"b":`
	beforeExpires = `,"exp":`
)

// append appends the claims as the SDK writes them.
func (c *claims) append(dst []byte) []byte {
	dst = vibeString.Append(append(dst, beforeState...), c.state)
	dst = vibeString.Append(append(dst, beforeBind...), c.bind)
	dst = strconv.AppendInt(append(dst, beforeExpires...), c.expires, 10)
	return append(dst, '}')
}

// vibeString quotes strings as vibe.d's jsonEscape does: / is escaped after <,
// and other control characters in upper-case hexadecimal.
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
