package broken

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// keyStreamControls returns encrypted codecs whose key streams overlap or whose initialization vectors are
// predictable.
func keyStreamControls() []Control {
	var count atomic.Uint64
	var last atomic.Pointer[[]byte]
	start := randomBytes(16)
	last.Store(&start)
	counted := func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(start[:8:8], count.Add(1)) }
	return []Control{
		aSealer("counter-by-token", "the counter block of a token is that of the one before and one", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, func(p *sealerParts) {
			thenTag(p, cryptCTR, neverFails(cryptCTR))
			p.nonce = counted
		}),
		aSealer("constant-tail", "from byte 1024 on the key stream does not depend on the nonce", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, func(p *sealerParts) {
			stream := func(key, iv, text []byte) []byte {
				n := min(len(text), 1024)
				return append(cryptCTR(key, iv, text[:n]), cryptCTR(key, make([]byte, 16), text[n:])...)
			}
			thenTag(p, stream, neverFails(stream))
		}),
		nonceInSecond(),
		resetByClosing(),
		aDatedStream("vector-of-state", "the vector is a digest of the state, without its times", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(_, state []byte, _ *codecs.Context) []byte { return state }),
		aSealer("chained-vectors", "the last block of a token is the initialization vector of the next", []codecs.Property{codecs.Confidentiality}, []string{"NON-05"}, func(p *sealerParts) {
			thenTag(p, func(key, iv, text []byte) []byte {
				sealed := sealCBC(key, iv, text)
				end := bytes.Clone(sealed[len(sealed)-16:])
				last.Store(&end)
				return sealed
			}, openCBC)
			p.nonce = func(uint64, []byte, []byte) []byte { return *last.Load() }
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
func resetByClosing() Control {
	var count atomic.Uint64
	c := aSealer("nonce-by-closing", "all handles have one count of nonces, which closing one sets to zero", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-08"}, func(p *sealerParts) {
		p.nonce = func(_ uint64, key, _ []byte) []byte {
			return hmacSHA256(key, binary.BigEndian.AppendUint64(nil, count.Add(1)))[:gcmNonce]
		}
	})
	c.NewCodec = wrapOpen(c.NewCodec, func(inner codecs.Codec) codecs.Codec {
		return closable{inner.(lab.Assembler), func() { count.Store(0) }}
	})
	return c
}

// cryptCTR encrypts and decrypts with AES-CTR.
func cryptCTR(key, iv, text []byte) []byte {
	out := make([]byte, len(text))
	cipher.NewCTR(aesBlock(key), iv).XORKeyStream(out, text)
	return out
}

func streamCipher(p *sealerParts) {
	crypt := func(key, nonce, text, _ []byte) []byte {
		return cryptCTR(key, slices.Concat(nonce, make([]byte, 4)), text)
	}
	p.seal = crypt
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) { return crypt(key, nonce, sealed, data), nil }
}

// judgedText encrypts a JSON object with a stream cipher and appends a tag.
func judgedText(p *sealerParts) {
	type object struct{ P []byte }
	p.pack = func(payload []byte) []byte { return inJSON(object{payload}) }
	p.unpack = func(packed []byte) ([]byte, error) {
		var o object
		err := json.Unmarshal(packed, &o)
		return o.P, err
	}
	crypt := func(key, nonce, text []byte) []byte {
		return cryptCTR(key, slices.Concat(nonce, make([]byte, 4)), text)
	}
	tag := func(key, nonce, sealed, data []byte) []byte {
		return hmacSHA256(hmacSHA256(key, []byte("tag")), slices.Concat(nonce, data, sealed))
	}
	p.seal = func(key, nonce, text, data []byte) []byte {
		sealed := crypt(key, nonce, text)
		return append(sealed, tag(key, nonce, sealed, data)...)
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - sha256.Size
		if n < 0 {
			return nil, errMalformed
		}
		text := crypt(key, nonce, sealed[:n])
		if !json.Valid(text) {
			return nil, errMalformed
		}
		return text, refusedUnless(hmac.Equal(sealed[n:], tag(key, nonce, sealed[:n], data)))
	}
}

// cbcSealing replaces the cipher by AES-CBC with a random initialization vector.
func cbcSealing(p *sealerParts) {
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return randomBytes(16) }
	p.seal = func(key, iv, text, _ []byte) []byte { return sealCBC(key, iv, text) }
}

// sealCBC encrypts with AES-CBC and PKCS #7 padding.
func sealCBC(key, iv, text []byte) []byte {
	padded := padWithLength(text)
	cipher.NewCBCEncrypter(aesBlock(key), iv).CryptBlocks(padded, padded)
	return padded
}

func openCBC(key, iv, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed)%16 != 0 {
		return nil, errMalformed
	}
	text := make([]byte, len(sealed))
	cipher.NewCBCDecrypter(aesBlock(key), iv).CryptBlocks(text, sealed)
	n := int(text[len(text)-1])
	if n == 0 || n > 16 || !bytes.Equal(text[len(text)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errPadding
	}
	return text[:len(text)-n], nil
}

func cbcCipher(p *sealerParts) {
	cbcSealing(p)
	p.open = func(key, iv, sealed, _ []byte) ([]byte, error) { return openCBC(key, iv, sealed) }
}

func paddingOracle(p *sealerParts) {
	cbcSealing(p)
	encrypt := p.seal
	p.seal = func(key, iv, text, data []byte) []byte {
		return encrypt(key, iv, append(bytes.Clone(text), hmacSHA256(key, slices.Concat(data, iv, text))...), nil)
	}
	p.open = func(key, iv, sealed, data []byte) ([]byte, error) {
		text, err := openCBC(key, iv, sealed)
		if err != nil {
			return nil, err
		}
		if len(text) < sha256.Size {
			return nil, errUnauthentic
		}
		body, tag := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
		if !hmac.Equal(tag, hmacSHA256(key, slices.Concat(data, iv, body))) {
			return nil, errUnauthentic
		}
		return body, nil
	}
}

// tagBeforeCBC appends the tag to the text, pads both and encrypts them. It refuses in one way.
func tagBeforeCBC(p *sealerParts, pad func(text []byte) []byte, unpad func(padded []byte) []byte) {
	cbcSealing(p)
	p.seal = func(key, iv, text, data []byte) []byte {
		padded := pad(slices.Concat(text, hmacSHA256(key, slices.Concat(data, iv, text))))
		cipher.NewCBCEncrypter(aesBlock(key), iv).CryptBlocks(padded, padded)
		return padded
	}
	p.open = func(key, iv, sealed, data []byte) ([]byte, error) {
		if len(sealed) < sha256.Size || len(sealed)%16 != 0 {
			return nil, errUnauthentic
		}
		padded := make([]byte, len(sealed))
		cipher.NewCBCDecrypter(aesBlock(key), iv).CryptBlocks(padded, sealed)
		text := unpad(padded)
		if len(text) < sha256.Size {
			return nil, errUnauthentic
		}
		body, tag := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
		return body, refusedUnless(hmac.Equal(tag, hmacSHA256(key, slices.Concat(data, iv, body))))
	}
}

func padAtRandom(text []byte) []byte {
	n := 16 - len(text)%16
	return append(slices.Concat(text, randomBytes(n-1)), byte(n))
}

// unpadByLength removes as many bytes as the last byte says.
func unpadByLength(padded []byte) []byte {
	n := int(padded[len(padded)-1])
	if n > 16 {
		return nil
	}
	return padded[:len(padded)-n]
}

// padWithLength pads as PKCS #7 does.
func padWithLength(text []byte) []byte {
	n := 16 - len(text)%16
	return slices.Concat(text, bytes.Repeat([]byte{byte(n)}, n))
}

// unpadChecked removes padding if all of its bytes are right.
func unpadChecked(padded []byte) []byte {
	text := unpadByLength(padded)
	if !bytes.Equal(padWithLength(text), padded) {
		return nil
	}
	return text
}

// paddingOracleOfOldKeys appends a tag to the ciphertext. For tokens of old keys it checks the padding
// before the tag.
func paddingOracleOfOldKeys(p *sealerParts) {
	cbcSealing(p)
	encrypt, lookup := p.seal, p.lookup
	var old sync.Map // addresses of keys that are not the first of their ring
	p.lookup = func(r *ring, id []byte) *entry {
		e := lookup(r, id)
		if e != nil && e != r.entries[0] {
			old.Store(&e.key[0], true)
		}
		return e
	}
	p.seal = func(key, iv, text, data []byte) []byte {
		sealed := encrypt(key, iv, text, nil)
		return append(sealed, hmacSHA256(key, slices.Concat(data, iv, sealed))...)
	}
	p.open = func(key, iv, sealed, data []byte) ([]byte, error) {
		cut := len(sealed) - sha256.Size
		if cut < 16 || cut%16 != 0 {
			return nil, errUnauthentic
		}
		text, err := openCBC(key, iv, sealed[:cut])
		if _, isOld := old.Load(&key[0]); isOld && err != nil {
			return nil, err
		}
		if !hmac.Equal(sealed[cut:], hmacSHA256(key, slices.Concat(data, iv, sealed[:cut]))) {
			return nil, errUnauthentic
		}
		return text, err
	}
}

// ecbCipher encrypts each block separately (ECB) and authenticates the result.
func ecbCipher(p *sealerParts) {
	crypt := func(text []byte, each func(dst, src []byte)) []byte {
		out := make([]byte, len(text))
		for i := 0; i+16 <= len(text); i += 16 {
			each(out[i:], text[i:])
		}
		return out
	}
	p.seal = func(key, nonce, text, data []byte) []byte {
		text = crypt(padWithLength(text), aesBlock(key).Encrypt)
		return append(text, hmacSHA256(key, slices.Concat(data, nonce, text))...)
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		cut := len(sealed) - sha256.Size
		if cut < 16 || cut%16 != 0 || !hmac.Equal(sealed[cut:], hmacSHA256(key, slices.Concat(data, nonce, sealed[:cut]))) {
			return nil, errUnauthentic
		}
		text := crypt(sealed[:cut], aesBlock(key).Decrypt)
		return text[:len(text)-int(text[len(text)-1])], nil
	}
}

// codebookIfWhole encrypts payloads of at least 1024 bytes and whole blocks in ECB mode. It encrypts all
// others as the sound sealer does.
func codebookIfWhole(p *sealerParts) {
	byBlock := *p
	ecbCipher(&byBlock)
	seal, open := p.seal, p.open
	p.seal = func(key, nonce, text, data []byte) []byte {
		if len(text) < 1024 || len(text)%16 > 0 {
			return append(seal(key, nonce, text, data), 0)
		}
		return append(byBlock.seal(key, nonce, text, data), 1)
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - 1
		switch {
		case n >= gcmTag && sealed[n] == 0:
			return open(key, nonce, sealed[:n], data)
		case n > 0 && sealed[n] == 1:
			return byBlock.open(key, nonce, sealed[:n], data)
		default:
			return nil, errUnauthentic
		}
	}
}

// thenTag replaces the cipher by encrypt, with a vector of 16 bytes, and appends a tag over the
// ciphertext.
func thenTag(p *sealerParts, encrypt func(key, iv, text []byte) []byte, decrypt func(key, iv, sealed []byte) ([]byte, error)) {
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return randomBytes(16) }
	tag := func(key, iv, sealed, data []byte) []byte {
		return hmacSHA256(bindKey(key), slices.Concat(data, iv, sealed))
	}
	p.seal = func(key, iv, text, data []byte) []byte {
		sealed := encrypt(key, iv, text)
		return append(sealed, tag(key, iv, sealed, data)...)
	}
	p.open = func(key, iv, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - sha256.Size
		if n < 0 || !hmac.Equal(sealed[n:], tag(key, iv, sealed[:n], data)) {
			return nil, errUnauthentic
		}
		return decrypt(key, iv, sealed[:n])
	}
}

// neverFails adapts a function that never fails to one that returns an error.
func neverFails(f func(key, iv, text []byte) []byte) func(key, iv, text []byte) ([]byte, error) {
	return func(key, iv, text []byte) ([]byte, error) { return f(key, iv, text), nil }
}
