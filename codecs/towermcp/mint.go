package towermcp

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// payloads converts between states and the state in the claims.
type payloads struct {
	// fromState appends the JSON text that carries a state.
	fromState func(dst, state []byte) ([]byte, bool)
	// accepts reports whether the crate can decode a value.
	accepts func(v *rawjson.Value) bool
	// toState appends the state of a value that accepts has accepted.
	toState func(dst []byte, v *rawjson.Value) []byte
}

// payloadKinds maps the values of the option payload.
var payloadKinds = map[string]payloads{
	framework.PayloadText: {
		func(dst, state []byte) ([]byte, bool) { return serde.Append(dst, state), utf8.Valid(state) },
		func(v *rawjson.Value) bool { return v.Kind == rawjson.String && utf8.Valid(v.Text) },
		func(dst []byte, v *rawjson.Value) []byte { return append(dst, v.Text...) },
	},
	framework.PayloadJSON: {
		func(dst, state []byte) ([]byte, bool) {
			v, err := rawjson.Parse(state)
			if err != nil || !isValue(&v, maxDepth+1) {
				return dst, false
			}
			return serde.AppendValue(dst, &v), true
		},
		func(v *rawjson.Value) bool { return isValue(v, maxDepth) },
		serde.AppendValue,
	},
}

// Mint implements codecs.Scheme. Minting is deterministic.
func (s *scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	return s.mint(dst, nil, state, c, nil)
}

func (s *scheme) mint(dst, _, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	work := base64url.GetScratch()
	defer work.Free()
	text, err := s.claims(work, state, c)
	if err != nil {
		return dst, err
	}
	k := &s.keys[0]
	prefix, id := prefixV1, []byte(nil)
	if s.keyed {
		prefix, id = prefixV2, []byte(k.id)
	}
	head := edit.Apply(lab.StepPrefix, []byte(prefix))
	text = edit.Give(lab.StepClaims, text)
	front := append([]byte(nil), head...)
	if s.keyed {
		id = edit.Apply(lab.StepKeyID, id)
		front = append(append(front, id...), layouts.Separator...)
	}
	n := len(work.Bytes)
	work.Bytes = base64url.AppendEncode(work.Bytes, text)
	body := edit.Give(lab.StepText, work.Bytes[n:])
	tag := edit.Give(lab.StepTag, k.mac.Append(nil, front, body))

	start := len(dst)
	dst = append(dst, edit.Apply(lab.WirePrefix, head)...)
	if s.keyed {
		dst = layouts.AppendSeparator(append(dst, edit.Apply(lab.WireKeyID, id)...), edit)
	}
	dst = append(dst, edit.Apply(lab.WireText, body)...)
	dst = layouts.AppendSegment(layouts.AppendSeparator(dst, edit), edit, lab.WireTag, tag)
	if len(dst)-start > s.limit {
		return dst[:start], fmt.Errorf("%w: the token has over %d bytes", codecs.ErrUnsupported, s.limit)
	}
	return dst, nil
}

// claims appends the JSON that is signed to work and returns it.
func (s *scheme) claims(work *base64url.Scratch, state []byte, c *codecs.Context) ([]byte, error) {
	now := c.Now.Unix()
	if now < 0 || c.Principal != nil && !utf8.ValidString(*c.Principal) {
		return nil, codecs.ErrUnsupported
	}
	work.Grow(128 + len(state)*9/8)
	value, ok := s.payload.fromState(nil, state)
	if !ok {
		return nil, codecs.ErrUnsupported
	}
	e := envelope{issued: uint64(now), expires: expiry(uint64(now), s.ttl), subject: c.Principal}
	work.Bytes = e.append(work.Bytes, value)
	return work.Bytes, nil
}

// expiry returns now plus the whole seconds of a time to live, or the maximum
// of uint64 if that overflows.
func expiry(now uint64, ttl time.Duration) uint64 {
	seconds := uint64(ttl / time.Second)
	if now > math.MaxUint64-seconds {
		return math.MaxUint64
	}
	return now + seconds
}

// An envelope holds the claims other than the state.
type envelope struct {
	issued, expires uint64
	subject         *string
}

// append appends the claims as the crate writes them. state is the JSON text of
// the state.
func (e *envelope) append(dst, state []byte) []byte {
	dst = strconv.AppendUint(append(dst, `{"issued_at":`...), e.issued, 10)
	dst = strconv.AppendUint(append(dst, `,"expires_at":`...), e.expires, 10)
	if e.subject != nil {
		dst = serde.AppendText(append(dst, `,"subject":`...), *e.subject)
	}
	return append(append(append(dst, `,"state":`...), state...), '}')
}
