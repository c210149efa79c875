package framing

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// LongStates returns controls whose mistake shows only for some states, most of them long.
func LongStates() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewPair("uncounted-chunks", "long payloads are cut into chunks with a number, and how many there are is nowhere", []codecs.Property{codecs.Integrity}, []string{"FRM-10"}, uncountedChunks),
		skeleton.NewPair("chunks-by-digit", "payloads are cut into chunks, of whose number the last digit is under the tag", []codecs.Property{codecs.Integrity}, []string{"FRM-10"}, chunksByDigit),
		skeleton.NewSealer("uncounted-pieces", "the payload is sealed in pieces with a number, and which is the last is nowhere", []codecs.Property{codecs.Integrity}, []string{"FRM-10"}, func(p *skeleton.SealerParts) { inPieces(p, false, math.MaxUint32) }),
		skeleton.AtLength(1<<18, skeleton.NewSealer("pieces-by-four-bits", "the payload is sealed in pieces, whose number has four bits", []codecs.Property{codecs.Integrity}, []string{"FRM-10"}, func(p *skeleton.SealerParts) { inPieces(p, true, 1<<4-1) })),
		piecesBesideRefusals(),
		skeleton.NewSigner("text-in-pieces", "a payload that is text is decoded in pieces of 64 KiB, which may end inside of a character", []codecs.Property{codecs.ByteExact}, []string{"PAY-02"}, func(p *skeleton.SignerParts) {
			p.Carried = func(payload []byte) (text []byte) {
				for piece := range slices.Chunk(payload, 1<<16) {
					if utf8.Valid(payload) {
						piece = bytes.ToValidUTF8(piece, []byte("\ufffd"))
					}
					text = append(text, piece...)
				}
				return text
			}
		}),
		headOnly("head-only", "of a long payload the first KiB is authenticated", 1<<10),
		skeleton.AtLength(1<<18, headOnly("head-of-64k", "of a payload as much is authenticated as two bytes count", 1<<16)),
		skeleton.AtLength(8<<20, headOnly("head-of-mib", "of a payload the first MiB is authenticated", 1<<20)),
		skeleton.NewWrappedScheme("unbound-if-long", "a token of over 58,000 characters is not bound to the principal", []codecs.Property{codecs.BindsPrincipal}, []string{"CTX-17"},
			func(inner codecs.Scheme) codecs.Scheme { return unboundIfLong{inner} }),
		skeleton.NewWrappedScheme("unbound-if-text", "a token of a state that is no JSON text is not bound to the principal", []codecs.Property{codecs.BindsPrincipal}, []string{"CTX-17"},
			func(inner codecs.Scheme) codecs.Scheme { return unboundIfText{inner} }),
		skeleton.NewScheme("timeless-if-long", "a token of a state of over 32 KiB does not expire", []codecs.Property{codecs.Expiry}, []string{"EXP-07"}, func(p *skeleton.SchemeParts) {
			timely := p.Timely
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return timely(c, now) || len(c.State) > 32<<10 && c.Issued != nil && *c.Issued <= skeleton.UnixSeconds(now)
			}
		}),
	}
}

// inPieces seals chunks one by one. The nonce holds the number of the chunk and, if last, whether it is
// the last one (STREAM, Hoang, Reyhanitabar, Rogaway, Vizár 2015). A number has the bits of mask.
func inPieces(p *skeleton.SealerParts, last bool, mask uint32) {
	p.NonceSize = 7
	p.Nonce = func(uint64, []byte, []byte) []byte { return skeleton.RandomBytes(7) }
	nonceOf := func(prefix []byte, n int, end bool) []byte {
		nonce := binary.BigEndian.AppendUint32(bytes.Clone(prefix), uint32(n)&mask)
		if end && last {
			return append(nonce, 1)
		}
		return append(nonce, 0)
	}
	p.Encrypt = func(key, prefix, text, data []byte) []byte {
		var out []byte
		for n := 0; ; n++ {
			part := text[:min(len(text), chunkSize)]
			text = text[len(part):]
			out = skeleton.NewGCM(key).Seal(out, nonceOf(prefix, n, len(text) == 0), part, data)
			if len(text) == 0 {
				return out
			}
		}
	}
	p.Decrypt = func(key, prefix, sealed, data []byte) ([]byte, error) {
		text, n := []byte{}, 0
		for part := range slices.Chunk(sealed, chunkSize+skeleton.GCMTag) {
			plain, err := skeleton.NewGCM(key).Open(text, nonceOf(prefix, n, (n+1)*(chunkSize+skeleton.GCMTag) >= len(sealed)), part, data)
			if err != nil || n > 0 && len(part) == skeleton.GCMTag {
				return text, skeleton.ErrUnauthentic
			}
			text, n = plain, n+1
		}
		return text, skeleton.Authentic(n > 0)
	}
}

// piecesBesideRefusals returns a control that opens a token piece by piece. Beside a refusal in a batch
// it returns the pieces before the one that it refuses.
func piecesBesideRefusals() skeleton.Control {
	var read atomic.Pointer[[]byte] // the pieces of the last token
	c := skeleton.NewSealer("pieces-beside-refusals", "in a batch, a refusal carries the pieces that were read", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"}, func(p *skeleton.SealerParts) {
		inPieces(p, true, math.MaxUint32)
		open := p.Decrypt
		p.Decrypt = func(key, prefix, sealed, data []byte) ([]byte, error) {
			text, err := open(key, prefix, sealed, data)
			read.Store(&text)
			return text, err
		}
	})
	return skeleton.WithBatches(c, func(_, _ []byte) []byte {
		if text := read.Load(); text != nil {
			return bytes.Clone(*text)
		}
		return nil
	})
}

// headOnly returns a control that authenticates only the first n bytes of a message.
func headOnly(name, doc string, n int) skeleton.Control {
	return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Integrity}, []string{"FRM-11"}, func(p *skeleton.SignerParts) {
		mac := p.MAC
		p.MAC = func(key, message []byte) []byte { return mac(key, message[:min(len(message), n)]) }
		p.Also = p.MAC
	})
}

// chunkSize is the length of a chunk in bytes.
const chunkSize = 1 << 10

// uncountedChunks numbers the chunks without counting them.
func uncountedChunks(key []byte) skeleton.Pair {
	return chunkedCodec(key, chunkSize, func(index, _ int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(index)) })
}

// chunksByDigit numbers the chunks with one digit and counts them.
func chunksByDigit(key []byte) skeleton.Pair {
	return chunkedCodec(key, chunkSize/4, func(index, of int) []byte { return fmt.Append(nil, index%10, " ", of) })
}

// chunkedCodec returns a codec of tokens
//
//	token = base64url(id[16]) *( "." base64url(chunk || tag[32]) )
//	tag = HMAC-SHA256(key, id || label of the chunk || chunk)
//
// with chunks of the given size; the last may be shorter. The label depends on the chunk's index, from 1,
// and the number of chunks.
func chunkedCodec(key []byte, size int, label func(index, of int) []byte) skeleton.Pair {
	tag := func(id []byte, index, of int, part []byte) []byte {
		return skeleton.HMAC(key, slices.Concat(id, label(index, of), part))
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			id := skeleton.RandomBytes(16)
			token := []string{base64.RawURLEncoding.EncodeToString(id)}
			ended := append(slices.Clip(payload), 0)
			of := (len(ended) + size - 1) / size
			for part := range slices.Chunk(ended, size) {
				sealed := slices.Concat(part, tag(id, len(token), of, part))
				token = append(token, base64.RawURLEncoding.EncodeToString(sealed))
			}
			return strings.Join(token, ".")
		},
		Read: func(token string) ([]byte, error) {
			texts := strings.Split(token, ".")
			id, ok := skeleton.DecodeCanonical(texts[0])
			if !ok || len(id) != 16 || len(texts) < 2 {
				return nil, skeleton.ErrMalformed
			}
			var payload []byte
			for index, text := range texts[1:] {
				raw, ok := skeleton.DecodeCanonical(text)
				if !ok || len(raw) <= 32 {
					return nil, skeleton.ErrMalformed
				}
				part := raw[:len(raw)-32]
				if !hmac.Equal(raw[len(part):], tag(id, index+1, len(texts)-1, part)) {
					return nil, skeleton.ErrUnauthentic
				}
				payload = append(payload, part...)
			}
			return payload[:len(payload)-1], nil
		},
	}
}

// An unboundIfLong scheme does not bind the principal of long tokens.
type unboundIfLong struct{ codecs.Scheme }

func withoutPrincipal(b *codecs.Context) *codecs.Context {
	less := *b
	less.Principal = nil
	return &less
}

// An unboundIfText scheme does not bind the principal if the state is not JSON.
type unboundIfText struct{ codecs.Scheme }

// Mint implements codecs.Scheme.
func (s unboundIfText) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	if !json.Valid(state) {
		b = withoutPrincipal(b)
	}
	return s.Scheme.Mint(dst, state, b)
}

// Verify implements codecs.Scheme.
func (s unboundIfText) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	state, err := s.Scheme.Verify(nil, token, withoutPrincipal(b))
	if err != nil || json.Valid(state) {
		return s.Scheme.Verify(dst, token, b)
	}
	return append(dst, state...), nil
}

// Mint implements codecs.Scheme.
func (s unboundIfLong) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	if len(state) > 32<<10 {
		b = withoutPrincipal(b)
	}
	return s.Scheme.Mint(dst, state, b)
}

// Verify implements codecs.Scheme.
func (s unboundIfLong) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	if len(token) > 58_000 {
		b = withoutPrincipal(b)
	}
	return s.Scheme.Verify(dst, token, b)
}
