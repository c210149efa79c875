package mcppy

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/compactjson"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/codecs/internal/rawjson"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	var seed [seedSize]byte
	keyring.Random(seed[:])
	r := rooms.Get().(*room)
	defer r.free()
	if err := r.claim(s.ttl, salt(seed[nonceSize:]), state, b); err != nil {
		return dst, err
	}
	return layouts.SealUnder(s.codec, dst, seed[:nonceSize], r.payload), nil
}

// room is working space for one token. free clears the bytes of the current
// call.
type room struct {
	payload []byte
	text    []byte // parts of the payload
}

var rooms = sync.Pool{New: func() any { return &room{text: make([]byte, 0, 512)} }}

// maxPooled is the maximum capacity in bytes of a reused buffer.
const maxPooled = 1 << 20

func (r *room) free() {
	clear(r.payload[:min(len(r.payload)+rawjson.Slack, cap(r.payload))])
	clear(r.text[:min(len(r.text)+rawjson.Slack, cap(r.text))])
	if cap(r.payload) <= maxPooled && cap(r.text) <= maxPooled {
		rooms.Put(r)
	}
}

// claim builds the payload that Mint seals.
func (r *room) claim(ttl time.Duration, fresh salt, state []byte, b *codecs.Context) error {
	if err := b.Check(); err != nil {
		return err
	}
	digest, err := compactjson.AppendDigest(append(r.text[:0], '"'), b.Method, b.Arguments)
	if err != nil {
		return fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	digest = append(digest, '"')
	now := unixSeconds(b.Now)
	issued := compactjson.AppendFloat(digest, now)
	r.text = compactjson.AppendFloat(issued, now+ttl.Seconds())
	c := claims{
		issued: issued[len(digest):], expires: r.text[len(issued):], method: b.Method, target: b.Target,
		digest: digest, state: state, audience: b.Audience,
	}
	if b.Principal != nil {
		c.principal = principalClaim(r.text, fresh, *b.Principal)
	}
	text := true
	if r.payload, text = c.append(slices.Grow(r.payload[:0], 256+len(state)*9/8)); !text {
		return codecs.ErrUnsupported
	}
	return nil
}

// mintEdited mints in steps that edit may change: lab.StepClaims, then the
// steps of the codec. A seed is the codec's seed followed by the salt.
func (s *scheme) mintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	var r room
	if err := r.claim(s.ttl, salt(seed[nonceSize:]), state, b); err != nil {
		return dst, err
	}
	return layouts.Edited(s.codec).SealEdited(dst, seed[:nonceSize], edit.Give(lab.StepClaims, r.payload), edit)
}
