package envelope

import (
	"fmt"

	"sealab/codecs"
	"sealab/codecs/envelope/compactjson"
	"sealab/codecs/keyring"
	"sealab/internal/lab"
)

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	var fresh salt
	keyring.Random(fresh[:])
	payload, err := s.claims(fresh, state, b)
	if err != nil {
		return dst, err
	}
	return s.codec.Seal(dst, payload)
}

// claims returns the payload that Mint seals.
func (s *scheme) claims(fresh salt, state []byte, b *codecs.Context) ([]byte, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	digest, err := DigestArguments(b.Method, b.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", codecs.ErrUnsupported, err)
	}
	c := claims{method: []byte(b.Method), target: []byte(b.Target), digest: digest, state: state}
	issued := unixSeconds(b.Now)
	times := compactjson.AppendFloat(make([]byte, 0, 2*longestFloat), issued)
	c.issued = times
	c.expires = compactjson.AppendFloat(times, issued+s.ttl.Seconds())[len(times):]
	if b.Audience != nil {
		c.audience = []byte(*b.Audience)
		c.hasAudience = true
	}
	if b.Principal != nil {
		c.principal = principalClaim(fresh, *b.Principal)
	}
	if !c.areText() {
		return nil, codecs.ErrUnsupported
	}
	return c.append(make([]byte, 0, 256+len(state)*9/8)), nil
}

// seeded is a scheme over a codec whose randomness can be given.
type seeded struct {
	scheme
	codec lab.Seeded
}

// SeedSize implements lab.SeededScheme: the codec's seed, then the salt.
func (s *seeded) SeedSize() int { return s.codec.SeedSize() + len(salt{}) }

// split cuts a seed into the codec's and the salt.
func (s *seeded) split(seed []byte) (codecSeed []byte, fresh salt, err error) {
	n := s.codec.SeedSize()
	if len(seed) != n+len(fresh) {
		return nil, fresh, fmt.Errorf("sealab: the seed has %d bytes, want %d", len(seed), n+len(fresh))
	}
	return seed[:n], salt(seed[n:]), nil
}

// MintSeeded implements lab.SeededScheme.
func (s *seeded) MintSeeded(dst, seed, state []byte, b *codecs.Context) ([]byte, error) {
	codecSeed, fresh, err := s.split(seed)
	if err != nil {
		return dst, err
	}
	payload, err := s.claims(fresh, state, b)
	if err != nil {
		return dst, err
	}
	return s.codec.SealSeeded(dst, codecSeed, payload)
}

// assembler is a scheme over a codec that seals step by step.
type assembler struct {
	seeded
	codec lab.Assembler
}

// MintEdited implements lab.SchemeAssembler: lab.StepClaims, then the
// steps of the codec.
func (s *assembler) MintEdited(dst, seed, state []byte, b *codecs.Context, edit lab.Edit) ([]byte, error) {
	codecSeed, fresh, err := s.split(seed)
	if err != nil {
		return dst, err
	}
	payload, err := s.claims(fresh, state, b)
	if err != nil {
		return dst, err
	}
	payload = edit.Give(lab.StepClaims, payload)
	return s.codec.SealEdited(dst, codecSeed, payload, edit)
}
