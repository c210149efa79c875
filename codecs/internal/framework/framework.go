// Package framework has the parts that the token formats of web frameworks and SDKs share:
// a ring of keys that are tried in turn, tokens that are joined of text segments,
// AES-CBC with PKCS #7 padding, and base64 as lenient decoders read it.
//
// A format is a [Format]. [SchemeOpener] and [NewCodec] make designs of it.
package framework

import (
	"bytes"
	"fmt"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// A Format mints and opens the tokens of one format under one key. It is safe for
// concurrent use.
type Format interface {
	// SeedSize is the number of random bytes that one token takes.
	SeedSize() int
	// Mint appends the token of state. A codec gets a nil Context.
	Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error)
	// Open appends the state of token. On an error dst is returned unchanged.
	Open(dst, token []byte, c *codecs.Context) ([]byte, error)
}

// ring has the formats under each secret. The first mints, and each opens.
type ring []Format

func newRing(secrets [][]byte, format func(secret []byte) (Format, error)) (ring, error) {
	if err := keyring.CheckLengths(secrets); err != nil {
		return nil, err
	}
	if err := keyring.CheckDistinct(secrets); err != nil {
		return nil, err
	}
	r := make(ring, 0, len(secrets))
	for _, secret := range secrets {
		f, err := format(bytes.Clone(secret))
		//mutant:equivalent the contract compares the length with KeySize first, and derived keys have the right size
		if err != nil {
			return nil, err
		}
		r = append(r, f)
	}
	return r, nil
}

func (r ring) mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	seed := make([]byte, r[0].SeedSize())
	keyring.Random(seed)
	return r[0].Mint(dst, seed, state, c, nil)
}

func (r ring) mintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if len(seed) != r[0].SeedSize() {
		return dst, fmt.Errorf("the seed has %d bytes, want %d", len(seed), r[0].SeedSize())
	}
	return r[0].Mint(dst, seed, state, c, edit)
}

// open tries each key. If each refuses, the refusal is the one of the latest stage.
func (r ring) open(dst, token []byte, c *codecs.Context) ([]byte, error) {
	var refused *codecs.RejectError
	for _, f := range r {
		out, err := f.Open(dst, token, c)
		rejected := codecs.Rejected(err)
		if rejected == nil {
			return out, err
		}
		if refused == nil || rejected.Stage > refused.Stage {
			refused = rejected
		}
	}
	return dst, refused
}

// A Scheme is a format with time under a ring of keys.
type Scheme struct{ ring ring }

// Mint implements codecs.Scheme.
func (s *Scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.mint(dst, state, c)
}

// Verify implements codecs.Scheme.
func (s *Scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.open(dst, token, c)
}

func (s *Scheme) mintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.mintEdited(dst, seed, state, c, edit)
}

// A Codec is a format without time under a ring of keys.
type Codec struct{ ring ring }

// Seal implements codecs.Codec.
func (s *Codec) Seal(dst, payload []byte) ([]byte, error) { return s.ring.mint(dst, payload, nil) }

// Unseal implements codecs.Codec.
func (s *Codec) Unseal(dst, token []byte) ([]byte, error) { return s.ring.open(dst, token, nil) }

// A codecAssembler is a Codec that internal/lab can seal step by step. Only rows of
// the catalog open one.
type codecAssembler struct{ Codec }

// SchemeOpener returns the function that opens a row: a scheme of the formats under each secret, with a
// time to live and the options of the row.
func SchemeOpener(format func(secret []byte, ttl time.Duration, options map[string]string) (Format, error)) func(codecs.Config) (codecs.Scheme, error) {
	return func(c codecs.Config) (codecs.Scheme, error) {
		ttl := c.TTLOr(defaultTTL)
		if ttl <= 0 {
			return nil, fmt.Errorf("the time to live is %v and must be positive", ttl)
		}
		r, err := newRing(c.Secrets, func(secret []byte) (Format, error) { return format(secret, ttl, c.Options) })
		if err != nil {
			return nil, err
		}
		return layouts.Assemble(&Scheme{r}, r[0].SeedSize(), (*Scheme).mintEdited), nil
	}
}

// NewCodec returns the codec of a row.
func NewCodec(secrets [][]byte, format func(secret []byte) (Format, error)) (codecs.Codec, error) {
	r, err := newRing(secrets, format)
	if err != nil {
		return nil, err
	}
	return &codecAssembler{Codec{r}}, nil
}

// SeedSize implements lab.Seeded.
func (s *codecAssembler) SeedSize() int { return s.ring[0].SeedSize() }

// SealSeeded implements lab.Seeded.
func (s *codecAssembler) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, seed, payload, nil)
}

// SealEdited implements lab.Assembler.
func (s *codecAssembler) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	return s.ring.mintEdited(dst, seed, payload, nil, edit)
}

// defaultTTL is the time to live of a scheme's tokens by default.
const defaultTTL = 600 * time.Second

// CheckSecrets refuses secrets of fewer than codecs.MinSecret bytes, an empty ring, and
// a second secret if tokens have no key ID.
func CheckSecrets(secrets [][]byte, keyID bool) error {
	//mutant:equivalent the contract compares the number with MaxKeys first
	if !keyID && len(secrets) > 1 {
		return fmt.Errorf("the format takes one secret of at least %d bytes and was given %d", codecs.MinSecret, len(secrets))
	}
	return keyring.CheckLengths(secrets)
}

const (
	optionReading = "reading"
	readingStrict = "strict"
	readingSDK    = "sdk"
)

// Reading is the option that chooses between the canonical encoding and all that
// the library accepts.
func Reading(sdk string) codecs.Option { return ReadingOf("tokens in the one canonical encoding", sdk) }

// ReadingOf is the option that chooses between some tokens and all that the library
// accepts.
func ReadingOf(strict, sdk string) codecs.Option {
	doc := "whether " + strict + " are accepted, or all that " + sdk + " accepts"
	return codecs.Option{Name: optionReading, Doc: doc, Values: []string{readingStrict, readingSDK}}
}

// IsSDK reports whether options choose the library's own reading.
func IsSDK(options map[string]string) bool { return options[optionReading] == readingSDK }

// Canonical holds that tokens have one encoding, unless options choose the reading of
// the library, which accepts others for the given reason.
func Canonical(options map[string]string, reason string) []codecs.Guarantee {
	if IsSDK(options) {
		return codecs.Disclaims(codecs.Canonical, reason)
	}
	return codecs.Holds(codecs.Canonical)
}

// Unbound disclaims every binding.
func Unbound(reason string) []codecs.Guarantee {
	var out []codecs.Guarantee
	for _, p := range []codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience, codecs.Unambiguous} {
		out = append(out, codecs.Guarantee{Property: p, Reason: reason})
	}
	return out
}
