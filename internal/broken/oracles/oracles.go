// Package oracles holds the negative controls of oracles: designs that tell too much in refusals or
// tokens.
package oracles

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Refusals returns controls that reveal something in the text of a refusal.
func Refusals() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSigner("reason-key", "the reason of a refusal holds the key, which is the secret", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"},
			func(p *skeleton.SignerParts) {
				p.Derive = skeleton.RawKey
				p.Refuse = func(e *skeleton.Entry, _, _, _ []byte) error {
					return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("wrong tag under key %x", e.Key))
				}
			}),
		skeleton.NewSigner("reason-tag", "the reason of a refusal holds the right tag", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"},
			func(p *skeleton.SignerParts) {
				p.Refuse = func(_ *skeleton.Entry, presented, right, _ []byte) error {
					return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("tag is %x, want %x", presented, right))
				}
			}),
		skeleton.NewSigner("reason-tag-start", "the reason of a refusal holds the first 6 bytes of the right tag", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"},
			func(p *skeleton.SignerParts) {
				p.Refuse = func(_ *skeleton.Entry, _, right, _ []byte) error {
					return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("want a tag like %x", right[:6]))
				}
			}),
		skeleton.NewPair("reason-tag-of-length", "the reason of a refusal holds the right tag if the one presented has another length", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"}, toldByLength),
		skeleton.WithClaim(skeleton.NewSigner("reason-key-hash", "the reason of a refusal names the key by a hash of the secret", []codecs.Property{codecs.PrivateKeys}, []string{"TAG-04"},
			func(p *skeleton.SignerParts) {
				p.Derive = skeleton.RawKey
				p.Refuse = func(e *skeleton.Entry, _, _, _ []byte) error {
					sum := sha256.Sum256(e.Key)
					return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("refused by key %x", sum[:6]))
				}
			}), codecs.PrivateKeys),
		skeleton.NewWrappedScheme("reason-audience", "the reason of a refusal names the audience of the token", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &leakyRefusalScheme{Scheme: inner, tell: func(minted, _ *codecs.Context) string { return "minted for " + skeleton.TextOrEmpty(minted.Audience) }}
			}),
		skeleton.NewWrappedScheme("reason-length", "the reason of a refusal tells the length of the principal of the token", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &leakyRefusalScheme{Scheme: inner, tell: func(minted, _ *codecs.Context) string {
					return fmt.Sprint("minted for a principal of ", len(skeleton.TextOrEmpty(minted.Principal)), " bytes")
				}}
			}),
		skeleton.NewWrappedScheme("reason-time", "the reason of a refusal tells the time for which a token is not valid yet", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"},
			func(inner codecs.Scheme) codecs.Scheme { return &leakyRefusalScheme{Scheme: inner, tell: waitTold} }),
		skeleton.NewWrappedScheme("reason-sign-in", "an authentic token is refused with a hint if the request has no principal, and otherwise as any token", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"},
			func(inner codecs.Scheme) codecs.Scheme { return signInScheme{inner} }),
		skeleton.NewWrappedScheme("reason-attempts", "after eight authentic tokens in a wrong context the reason of a refusal is another one", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"},
			func(inner codecs.Scheme) codecs.Scheme {
				return &limitedScheme{Scheme: inner, counts: func(s codecs.Stage) bool { return s == codecs.Misbound }}
			}),
		sizeTold(skeleton.NewSigner("reason-ring", "the reason of a refusal tells the number of keys", []codecs.Property{codecs.UniformRefusal}, []string{"KEY-10"}, func(*skeleton.SignerParts) {})),
		skeleton.NewSigner("reason-place", "the reason of a refusal tells whether the key is the first", []codecs.Property{codecs.UniformRefusal}, []string{"KEY-10"}, placeTold),
		skeleton.NewSigner("near-miss", "the reason of a refusal tells that the first two bytes of the tag are right", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-19"},
			func(p *skeleton.SignerParts) {
				p.Refuse = func(_ *skeleton.Entry, presented, right, _ []byte) error {
					if bytes.Equal(presented[:2], right[:2]) {
						return codecs.Reject(codecs.Unauthentic, "end of the tag")
					}
					return skeleton.ErrUnauthentic
				}
			}),
		skeleton.WithBatches(skeleton.NewSealer("state-of-last", "in a batch, a refusal carries the payload of the token before", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"}, func(*skeleton.SealerParts) {}),
			func(_, last []byte) []byte { return last }),
		skeleton.NewSigner("text-of-cause", "the text of a refusal names its cause", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-02", "KEY-10"},
			func(p *skeleton.SignerParts) {
				p.Refuse = func(*skeleton.Entry, []byte, []byte, []byte) error {
					return fmt.Errorf("bad signature: %w", skeleton.ErrUnauthentic)
				}
			}),
	}
}

// toldByLength tells the right tag if the one presented has another length.
func toldByLength(key []byte) skeleton.Pair {
	return skeleton.Pair{
		Write: skeleton.TaggedPair(key).Write,
		Read: func(token string) ([]byte, error) {
			parts, err := skeleton.SplitText(token, 2)
			if err != nil {
				return nil, err
			}
			right := skeleton.HMAC(key, parts[0])
			if len(parts[1]) != len(right) {
				return nil, codecs.Reject(codecs.Unauthentic, fmt.Sprintf("a tag of %d bytes, want %x", len(parts[1]), right))
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], right))
		},
	}
}

// placeTold refuses tokens of the first key of a ring differently from tokens of other keys.
func placeTold(p *skeleton.SignerParts) {
	var first sync.Map // entries that were the first of their ring
	lookup := p.Lookup
	p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
		first.Store(r.Entries[0], true)
		return lookup(r, id)
	}
	p.Refuse = func(e *skeleton.Entry, _, _, _ []byte) error {
		if _, ok := first.Load(e); ok {
			return skeleton.ErrUnauthentic
		}
		return codecs.Reject(codecs.Unauthentic, "tag of an old key")
	}
}

// A leakyRefusalScheme tells about the context in which a token was minted when it refuses the token in
// another one. If tell returns "", the reason stays as it is.
type leakyRefusalScheme struct {
	codecs.Scheme
	tell   func(minted, presented *codecs.Context) string
	minted sync.Map // contexts by token
}

// Mint implements codecs.Scheme.
func (s *leakyRefusalScheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Mint(dst, state, b)
	if err == nil {
		s.minted.Store(string(out[len(dst):]), *b)
	}
	return out, err
}

// Verify implements codecs.Scheme.
func (s *leakyRefusalScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	refusal := codecs.Rejected(err)
	minted, ok := s.minted.Load(string(token))
	if !ok || refusal == nil {
		return out, err
	}
	c := minted.(codecs.Context)
	if told := s.tell(&c, b); told != "" {
		return out, codecs.Reject(refusal.Stage, told)
	}
	return out, err
}

// A signInScheme has one reason for every refusal but that of an authentic token without a principal.
type signInScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s signInScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	refusal := codecs.Rejected(err)
	switch {
	case refusal == nil:
		return out, err
	case refusal.Stage == codecs.Misbound && b.Principal == nil:
		return out, codecs.Reject(refusal.Stage, "sign in first")
	default:
		return out, codecs.Reject(refusal.Stage, "refused")
	}
}

// A limitedScheme gives another reason after eight refusals of the stages that count.
type limitedScheme struct {
	codecs.Scheme
	counts  func(codecs.Stage) bool
	refused atomic.Int64
}

// Verify implements codecs.Scheme.
func (s *limitedScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if refusal := codecs.Rejected(err); refusal != nil && s.counts(refusal.Stage) && s.refused.Add(1) > 8 {
		return out, codecs.Reject(refusal.Stage, "too many attempts")
	}
	return out, err
}

// waitTold tells for how long a token is not valid yet.
func waitTold(minted, presented *codecs.Context) string {
	if wait := minted.Now.Sub(presented.Now); wait > 0 {
		return "not valid for another " + wait.String()
	}
	return ""
}

// sizeTold puts the number of keys into the reason of a refusal.
func sizeTold(c skeleton.Control) skeleton.Control {
	open := c.NewCodec
	c.NewCodec = func(config codecs.Config) (codecs.Codec, error) {
		inner, err := open(config)
		return countingKeys{inner, len(config.Secrets)}, err
	}
	return c
}

// A countingKeys codec reveals how many keys do not open a token.
type countingKeys struct {
	codecs.Codec
	keys int
}

// Unseal implements codecs.Codec.
func (c countingKeys) Unseal(dst, token []byte) ([]byte, error) {
	out, err := c.Codec.Unseal(dst, token)
	if err != nil {
		return out, codecs.Reject(codecs.Unauthentic, fmt.Sprintf("none of %d keys opens it", c.keys))
	}
	return out, nil
}
