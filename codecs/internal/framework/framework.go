// Package framework has the common parts of token formats of web frameworks and
// SDKs: a ring of keys that are tried in turn, tokens of joined text segments,
// AES-CBC with PKCS #7 padding, and base64 as lenient decoders read it.
//
// A [Format] describes a format. [SchemeOpener] and [NewCodec] make designs of
// it.
package framework

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/keyring"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// A Format mints and opens the tokens of one format under one key. It is safe for
// concurrent use.
type Format interface {
	// SeedSize returns the number of random bytes in one token.
	SeedSize() int
	// Mint appends the token of state. The Context of a codec is nil.
	Mint(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error)
	// Open appends the state of token. On an error dst is returned unchanged.
	Open(dst, token []byte, c *codecs.Context) ([]byte, error)
}

// ring has one format per secret. The first mints, and each opens.
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

// open tries each key. If all refuse, it returns the refusal of the latest
// stage.
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

// A scheme is a Format with times under a ring of keys.
type scheme struct{ ring ring }

// Mint implements codecs.Scheme.
func (s *scheme) Mint(dst, state []byte, c *codecs.Context) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.mint(dst, state, c)
}

// Verify implements codecs.Scheme.
func (s *scheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	//mutant:equivalent every vector has a time
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.open(dst, token, c)
}

func (s *scheme) mintEdited(dst, seed, state []byte, c *codecs.Context, edit lab.Edit) ([]byte, error) {
	if err := c.Check(); err != nil {
		return dst, err
	}
	return s.ring.mintEdited(dst, seed, state, c, edit)
}

// A codec is a Format without times under a ring of keys. It seals step by step
// for internal/lab.
type codec struct{ ring ring }

// Seal implements codecs.Codec.
func (s *codec) Seal(dst, payload []byte) ([]byte, error) { return s.ring.mint(dst, payload, nil) }

// Unseal implements codecs.Codec.
func (s *codec) Unseal(dst, token []byte) ([]byte, error) { return s.ring.open(dst, token, nil) }

// SchemeOpener returns the function that opens a row as a scheme. format is
// called for each secret, with the time to live and the options.
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
		return layouts.Assemble(&scheme{r}, r[0].SeedSize(), (*scheme).mintEdited), nil
	}
}

// NewCodec opens a row as a codec. format is called for each secret.
func NewCodec(secrets [][]byte, format func(secret []byte) (Format, error)) (codecs.Codec, error) {
	r, err := newRing(secrets, format)
	if err != nil {
		return nil, err
	}
	return &codec{r}, nil
}

// SeedSize implements lab.Seeded.
func (s *codec) SeedSize() int { return s.ring[0].SeedSize() }

// SealSeeded implements lab.Seeded.
func (s *codec) SealSeeded(dst, seed, payload []byte) ([]byte, error) {
	return s.SealEdited(dst, seed, payload, nil)
}

// SealEdited implements lab.Assembler.
func (s *codec) SealEdited(dst, seed, payload []byte, edit lab.Edit) ([]byte, error) {
	return s.ring.mintEdited(dst, seed, payload, nil, edit)
}

// defaultTTL is the default time to live of a scheme's tokens.
const defaultTTL = 600 * time.Second

const (
	optionReading = "reading"
	readingStrict = "strict"
	readingSDK    = "sdk"
)

// Reading returns the option that selects the canonical encoding or all tokens
// that the library sdk accepts.
func Reading(sdk string) codecs.Option { return ReadingOf("tokens in the one canonical encoding", sdk) }

// ReadingOf returns the option that selects the tokens described by strict or
// all tokens that the library sdk accepts.
func ReadingOf(strict, sdk string) codecs.Option {
	doc := "whether " + strict + " are accepted, or all that " + sdk + " accepts"
	return codecs.Option{Name: optionReading, Doc: doc, Values: []string{readingStrict, readingSDK}}
}

// IsSDK reports whether options select the library's reading.
func IsSDK(options map[string]string) bool { return options[optionReading] == readingSDK }

// The option payload and its values.
const (
	OptionPayload = "payload"
	PayloadText   = "text"
	PayloadJSON   = "json"
)

// Payload is the option that selects whether states are text or JSON.
var Payload = codecs.Option{Name: OptionPayload, Doc: "whether the state is the payload's text or its JSON", Values: []string{PayloadText, PayloadJSON}}

// IsJSON reports whether options select states that are JSON.
func IsJSON(options map[string]string) bool { return options[OptionPayload] == PayloadJSON }

// ByteExact returns text, the guarantee of states that are text, unless options
// select JSON. It then disclaims ByteExact, because printer prints the JSON.
func ByteExact(options map[string]string, text []codecs.Guarantee, printer string) []codecs.Guarantee {
	if IsJSON(options) {
		return codecs.Disclaims(codecs.ByteExact, "under payload=json the state comes back as "+printer+" prints its value")
	}
	return text
}

// Canonical claims Canonical, unless options select the library's reading. It
// then disclaims it for the given reason.
func Canonical(options map[string]string, reason string) []codecs.Guarantee {
	if IsSDK(options) {
		return codecs.Disclaims(codecs.Canonical, reason)
	}
	return codecs.Holds(codecs.Canonical)
}

// Unbound disclaims every binding. It claims codecs.Unlinkable, because an
// unbound token has no trace of the principal.
func Unbound(reason string) []codecs.Guarantee {
	out := slices.Clone(guarantee.NoPrincipal)
	for _, p := range []codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience, codecs.Unambiguous} {
		out = append(out, codecs.Guarantee{Property: p, Reason: reason})
	}
	return out
}
