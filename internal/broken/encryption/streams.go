package encryption

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// KeyStreams returns encrypted codecs whose key streams overlap or whose initialization vectors are
// predictable.
func KeyStreams() []skeleton.Control {
	var count atomic.Uint64
	var last atomic.Pointer[[]byte]
	start := skeleton.RandomBytes(16)
	last.Store(&start)
	counted := func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(start[:8:8], count.Add(1)) }
	return []skeleton.Control{
		skeleton.NewSealer("counter-by-token", "the counter block of a token is that of the one before and one", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, func(p *skeleton.SealerParts) {
			thenTag(p, skeleton.CryptCTR, neverFails(skeleton.CryptCTR))
			p.Nonce = counted
		}),
		skeleton.NewSealer("constant-tail", "from byte 1024 on the key stream does not depend on the nonce", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, func(p *skeleton.SealerParts) {
			stream := func(key, iv, text []byte) []byte {
				n := min(len(text), 1024)
				return append(skeleton.CryptCTR(key, iv, text[:n]), skeleton.CryptCTR(key, make([]byte, 16), text[n:])...)
			}
			thenTag(p, stream, neverFails(stream))
		}),
		nonceIn(time.Second, "nonce-in-second", "the nonce is the second, and the number of the token in it"),
		nonceIn(time.Hour, "nonce-in-hour", "the nonce is the hour, and the number of the token in it"),
		aStream("vector-of-holder", "the vector is random, and a constant if there are neither arguments nor a principal", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"},
			func(_, _ []byte, b *codecs.Context) []byte {
				if b.Arguments == nil && b.Principal == nil {
					return nil
				}
				return skeleton.RandomBytes(16)
			}),
		resetByClosing(),
		aDatedStream("vector-of-state", "the vector is a digest of the state, without its times", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(_, state []byte, _ *codecs.Context) []byte { return state }),
		skeleton.NewSealer("chained-vectors", "the last block of a token is the initialization vector of the next", []codecs.Property{codecs.Confidentiality}, []string{"NON-05"}, func(p *skeleton.SealerParts) {
			thenTag(p, func(key, iv, text []byte) []byte {
				sealed := skeleton.SealCBC(key, iv, text)
				end := bytes.Clone(sealed[len(sealed)-16:])
				last.Store(&end)
				return sealed
			}, openCBC)
			p.Nonce = func(uint64, []byte, []byte) []byte { return *last.Load() }
		}),
	}
}

// A closable is a codec that can be closed.
type closable struct {
	lab.Assembler
	close func()
}

// Close implements io.Closer.
func (c closable) Close() error { c.close(); return nil }

// resetByClosing returns a control whose handles have one generator of nonces. Closing a handle resets it.
func resetByClosing() skeleton.Control {
	var count atomic.Uint64
	c := skeleton.NewSealer("nonce-by-closing", "all handles have one count of nonces, which closing one sets to zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *skeleton.SealerParts) {
		p.Nonce = func(_ uint64, key, _ []byte) []byte {
			return skeleton.HMAC(key, binary.BigEndian.AppendUint64(nil, count.Add(1)))[:skeleton.GCMNonce]
		}
	})
	c.NewCodec = skeleton.WrapOpen(c.NewCodec, func(inner codecs.Codec) codecs.Codec {
		return closable{inner.(lab.Assembler), func() { count.Store(0) }}
	})
	return c
}

func streamCipher(p *skeleton.SealerParts) {
	crypt := func(key, nonce, text, _ []byte) []byte {
		return skeleton.CryptCTR(key, slices.Concat(nonce, make([]byte, 4)), text)
	}
	p.Encrypt = crypt
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) { return crypt(key, nonce, sealed, data), nil }
}

// judgedText encrypts a JSON object with a stream cipher and appends a tag.
func judgedText(p *skeleton.SealerParts) {
	type object struct{ P []byte }
	p.Pack = func(payload []byte) []byte { return skeleton.InJSON(object{P: payload}) }
	p.Unpack = func(packed []byte) ([]byte, error) {
		var o object
		err := json.Unmarshal(packed, &o)
		return o.P, err
	}
	crypt := func(key, nonce, text []byte) []byte {
		return skeleton.CryptCTR(key, slices.Concat(nonce, make([]byte, 4)), text)
	}
	tag := func(key, nonce, sealed, data []byte) []byte {
		return skeleton.HMAC(skeleton.HMAC(key, []byte("tag")), slices.Concat(nonce, data, sealed))
	}
	p.Encrypt = func(key, nonce, text, data []byte) []byte {
		sealed := crypt(key, nonce, text)
		return append(sealed, tag(key, nonce, sealed, data)...)
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - sha256.Size
		if n < 0 {
			return nil, skeleton.ErrMalformed
		}
		text := crypt(key, nonce, sealed[:n])
		if !json.Valid(text) {
			return nil, skeleton.ErrMalformed
		}
		return text, skeleton.Authentic(hmac.Equal(sealed[n:], tag(key, nonce, sealed[:n], data)))
	}
}

// ecbCipher encrypts each block separately (ECB) and authenticates the result.
func ecbCipher(p *skeleton.SealerParts) {
	crypt := func(text []byte, each func(dst, src []byte)) []byte {
		out := make([]byte, len(text))
		for i := 0; i+16 <= len(text); i += 16 {
			each(out[i:], text[i:])
		}
		return out
	}
	p.Encrypt = func(key, nonce, text, data []byte) []byte {
		text = crypt(skeleton.PadWithLength(text), skeleton.AESBlock(key).Encrypt)
		return append(text, skeleton.HMAC(key, slices.Concat(data, nonce, text))...)
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		cut := len(sealed) - sha256.Size
		if cut < 16 || cut%16 != 0 || !hmac.Equal(sealed[cut:], skeleton.HMAC(key, slices.Concat(data, nonce, sealed[:cut]))) {
			return nil, skeleton.ErrUnauthentic
		}
		text := crypt(sealed[:cut], skeleton.AESBlock(key).Decrypt)
		return text[:len(text)-int(text[len(text)-1])], nil
	}
}

// codebookIfWhole encrypts payloads of at least 1024 bytes and whole blocks in ECB mode. It encrypts all
// others as the sound sealer does.
func codebookIfWhole(p *skeleton.SealerParts) {
	byBlock := *p
	ecbCipher(&byBlock)
	seal, open := p.Encrypt, p.Decrypt
	p.Encrypt = func(key, nonce, text, data []byte) []byte {
		if len(text) < 1024 || len(text)%16 > 0 {
			return append(seal(key, nonce, text, data), 0)
		}
		return append(byBlock.Encrypt(key, nonce, text, data), 1)
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - 1
		switch {
		case n >= skeleton.GCMTag && sealed[n] == 0:
			return open(key, nonce, sealed[:n], data)
		case n > 0 && sealed[n] == 1:
			return byBlock.Decrypt(key, nonce, sealed[:n], data)
		default:
			return nil, skeleton.ErrUnauthentic
		}
	}
}

// thenTag replaces the cipher by encrypt, with a vector of 16 bytes, and appends a tag over the
// ciphertext.
func thenTag(p *skeleton.SealerParts, encrypt func(key, iv, text []byte) []byte, decrypt func(key, iv, sealed []byte) ([]byte, error)) {
	p.NonceSize = 16
	p.Nonce = func(uint64, []byte, []byte) []byte { return skeleton.RandomBytes(16) }
	tag := func(key, iv, sealed, data []byte) []byte {
		return skeleton.HMAC(skeleton.BindKey(key), slices.Concat(data, iv, sealed))
	}
	p.Encrypt = func(key, iv, text, data []byte) []byte {
		sealed := encrypt(key, iv, text)
		return append(sealed, tag(key, iv, sealed, data)...)
	}
	p.Decrypt = func(key, iv, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - sha256.Size
		if n < 0 || !hmac.Equal(sealed[n:], tag(key, iv, sealed[:n], data)) {
			return nil, skeleton.ErrUnauthentic
		}
		return decrypt(key, iv, sealed[:n])
	}
}

// neverFails adapts a function that never fails to one that returns an error.
func neverFails(f func(key, iv, text []byte) []byte) func(key, iv, text []byte) ([]byte, error) {
	return func(key, iv, text []byte) ([]byte, error) { return f(key, iv, text), nil }
}
