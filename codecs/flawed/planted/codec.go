package planted

import (
	"bytes"
	"errors"
	"sync"

	"sealab/codecs"
	"sealab/internal/lab"
)

// state is what the wrapper of one codec or scheme keeps.
type state struct {
	Bug
	mu     sync.Mutex
	sealed []byte            // the token that was sealed last
	cache  map[string][]byte // what was released, where the bug remembers it
}

// seal remembers a token that was just appended to dst.
func (s *state) seal(dst, out []byte, err error) ([]byte, error) {
	if err == nil && s.takes != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sealed = append(s.sealed[:0], out[len(dst):]...)
	}
	return out, err
}

// open opens a token with the bug.
func (s *state) open(sound opener, dst, token []byte) ([]byte, error) {
	if s.opening != nil {
		return s.opening(sound, dst, token)
	}
	if s.cached != nil {
		return s.recall(sound, dst, token)
	}
	out, err := sound(dst, s.instead(token))
	if err != nil || s.carried == nil {
		return out, err
	}
	return append(out[:len(dst)], s.carried(out[len(dst):])...), nil
}

// instead returns the token that this one is taken for.
func (s *state) instead(token []byte) []byte {
	if s.takes == nil {
		return token
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sealed) > 0 && s.takes(token, s.sealed) {
		return bytes.Clone(s.sealed)
	}
	return token
}

// recall answers from the cache where it can.
func (s *state) recall(sound opener, dst, token []byte) ([]byte, error) {
	key, ok := s.cached(token)
	if !ok {
		return sound(dst, token)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if payload, hit := s.cache[key]; hit {
		return append(dst, payload...), nil
	}
	out, err := sound(dst, token)
	if err == nil {
		s.cache = map[string][]byte{key: bytes.Clone(out[len(dst):])} // of one entry
	}
	return out, err
}

// payload returns what is sealed for a payload.
func (s *state) payload(p []byte) []byte {
	if s.carried == nil {
		return p
	}
	return s.carried(p)
}

// A codec is a sound codec with a bug.
type codec struct {
	*state
	sound lab.Assembler
}

var errAssembler = errors.New("sealab: planted: a bug needs a design that can seal step by step")

func (b Bug) newCodec(sound func(codecs.Config) (codecs.Codec, error), c codecs.Config) (codecs.Codec, error) {
	inner, err := sound(c)
	if err != nil {
		return nil, err
	}
	assembler, ok := inner.(lab.Assembler)
	if !ok {
		return nil, errAssembler
	}
	if b.ring != nil {
		b.opening = b.openingWith(sound, c)
	}
	return codec{&state{Bug: b}, assembler}, nil
}

// openingWith opens each token with a codec that has the secrets that are tried.
func (b Bug) openingWith(sound func(codecs.Config) (codecs.Codec, error), c codecs.Config) func(opener, []byte, []byte) ([]byte, error) {
	ring := c.Secrets
	return func(open opener, dst, token []byte) ([]byte, error) {
		tried := b.ring(token, ring)
		if len(tried) == len(ring) {
			return open(dst, token)
		}
		fewer := c
		fewer.Secrets = tried
		inner, err := sound(fewer)
		if err != nil {
			return dst, err
		}
		return inner.Unseal(dst, token)
	}
}

func (c codec) SeedSize() int { return c.sound.SeedSize() }

func (c codec) Seal(dst, payload []byte) ([]byte, error) {
	out, err := c.sound.Seal(dst, c.payload(payload))
	return c.seal(dst, out, err)
}

func (c codec) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	out, err := c.sound.SealSeeded(dst, seed, c.payload(payload))
	return c.seal(dst, out, err)
}

func (c codec) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	return c.sound.SealEdited(dst, seed, c.payload(payload), edit)
}

func (c codec) Unseal(dst, token []byte) ([]byte, error) {
	return c.open(c.sound.Unseal, dst, token)
}
