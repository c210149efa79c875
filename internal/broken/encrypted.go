package broken

import (
	"bytes"
	"compress/flate"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// encrypted are the mistakes of codecs that hide their payload.
func encrypted() []Control {
	return []Control{
		aSealer("nonce-counter", "nonces are counted from zero again after each start", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-01"),
			func(p *sealerParts) { p.nonce = counted }),
		aSealer("nonce-fixed", "the nonce is derived from the key", breaks(codecs.FreshNonces, codecs.Confidentiality, codecs.Integrity), by("NON-03", "NON-05"),
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, _ []byte) []byte { return lab.Derive(key, "nonce", gcmNonce) }
			}),
		aSealer("nonce-of-2", "the nonce has two random bytes", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-01"),
			func(p *sealerParts) {
				p.nonce = func(uint64, []byte, []byte) []byte {
					return append(drawn(2), make([]byte, gcmNonce-2)...)
				}
			}),
		aSealer("nonce-of-payload", "the nonce is a digest of the payload", breaks(codecs.Confidentiality), by("NON-03"),
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, payload []byte) []byte { return hmacSHA256(key, payload)[:gcmNonce] }
			}),
		from(1<<17, aSealer("compressed-if-long", "a payload over 32 KiB is compressed before it is sealed, and its length not bounded", breaks(codecs.Confidentiality, codecs.Total), by("PAY-05"), compressedIfLong)),
		aSealer("compressed", "the payload is compressed before it is sealed, and its length not bounded", breaks(codecs.Confidentiality, codecs.Total), by("PAY-05", "PAY-04"), compressed),
		aSealer("compressed-text", "a payload over 1 KiB is compressed as base64, and its length not bounded", breaks(codecs.Confidentiality, codecs.Total), by("PAY-05"), compressedText),
		aSealer("zeros-counted", "zero bytes at the end of the payload are counted and not sealed", breaks(codecs.Confidentiality), by("PAY-05"), zerosCounted),
		aSealer("clear-if-long", "a payload over 2 KiB is under the tag and not encrypted", breaks(codecs.Confidentiality), by("PAY-07"), clearIfLong),
		aSealer("two-halves", "each half of the payload is sealed under the nonce of the token", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-05"), inHalves),
		aSealer("period-of-512", "of the number of a token 9 bits are in the nonce, and all of it under the tag", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-01"), periodOf512),
		aSealer("stream", "AES-CTR without a tag", breaks(codecs.Integrity), by("FRM-01", "FRM-07", "FRM-08"), stream),
		aSealer("chain", "AES-CBC without a tag", breaks(codecs.Integrity), by("FRM-07"), chain),
		aSealer("padding-oracle", "AES-CBC, and the tag is checked after the padding", breaks(codecs.UniformRefusal), by("TAG-08"), paddingOracle),
		aSealer("electronic-codebook", "blocks are encrypted one by one", breaks(codecs.Confidentiality), by("NON-06"), codebook),
		aSealer("codebook-if-whole", "payloads of whole blocks are encrypted block by block", breaks(codecs.Confidentiality), by("NON-06"), codebookIfWhole),
		aSealer("digest-inside", "a digest of the payload stands in front of the ciphertext", breaks(codecs.Confidentiality), by("PAY-07"), digestInside),
		stating(disclaiming(aSealer("nonce-of-end", "the nonce is a digest of the last 64 bytes and the length of the payload", breaks(codecs.NonceMisuseResistant, codecs.FreshNonces), by("NON-07"),
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, payload []byte) []byte {
					return hmacSHA256(key, fmt.Append(nil, len(payload), " ", string(payload[max(0, len(payload)-64):])))[:gcmNonce]
				}
			}), codecs.Confidentiality, "equal payloads give equal tokens"), codecs.NonceMisuseResistant),
		stating(disclaiming(disclaiming(aSealer("nonce-of-beginning", "the nonce is a digest of the first 8 KiB and the length of the payload", breaks(codecs.NonceMisuseResistant), by("NON-07"),
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, payload []byte) []byte {
					return hmacSHA256(key, fmt.Append(nil, len(payload), " ", string(payload[:min(len(payload), 8<<10)])))[:gcmNonce]
				}
			}), codecs.Confidentiality, "equal payloads give equal tokens"), codecs.FreshNonces, "there is no other nonce"), codecs.NonceMisuseResistant),
		stating(aSealer("misuse", "AES-GCM, said to stand a nonce that repeats", breaks(codecs.NonceMisuseResistant), by("NON-07"),
			func(*sealerParts) {}), codecs.NonceMisuseResistant),
		stating(aSealer("key-id-of-a-byte", "AES-GCM with a key id of one byte, said to commit to its key", breaks(codecs.KeyCommitting, codecs.Rotation), by("KEY-09"),
			func(p *sealerParts) {
				p.derive = func(secret []byte) (key, id []byte) {
					key, id = deriveKey(secret)
					return key, []byte{id[0], 0, 0, 0}
				}
			}), codecs.KeyCommitting),
		aSealer("nonce-apart", "the nonce has a piece of its own, and its length is not checked", breaks(codecs.Total), by("NON-02"), nonceApart),
		aSealer("associated-data", "the key id is not associated data, and an unknown one is the first key's", breaks(codecs.Integrity, codecs.Rotation), by("FRM-07"),
			func(p *sealerParts) {
				p.data = func([]byte) []byte { return nil }
				p.lookup = func(r *ring, _ []byte) *entry { return r.entries[0] }
			}),
	}
}

// nonceApart gives the nonce a piece of the token; the cipher ends the program
// when the nonce has another length than it takes.
func nonceApart(p *sealerParts) {
	p.frame = func(id, nonce, sealed []byte) string {
		return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(id), nonce...)) + "." + base64.RawURLEncoding.EncodeToString(sealed)
	}
	p.unframe = func(text string, _ int) (id, nonce, sealed []byte, ok bool) {
		head, tail, ok := strings.Cut(text, ".")
		raw, okHead := canonical(head)
		sealed, okTail := canonical(tail)
		if !ok || !okHead || !okTail || len(raw) < idSize {
			return nil, nil, nil, false
		}
		return raw[:idSize], raw[idSize:], sealed, true
	}
}

func counted(n uint64, _, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4), n)
}

func compressed(p *sealerParts) {
	p.pack = func(payload []byte) []byte {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		if err != nil {
			panic("broken: " + err.Error()) // the level is one that there is
		}
		w.Write(payload)
		w.Close()
		return b.Bytes()
	}
	p.unpack = func(packed []byte) ([]byte, error) {
		payload, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil {
			return nil, errMalformed
		}
		return payload, nil
	}
}

// compressedIfLong writes whether a payload is compressed in front of it.
func compressedIfLong(p *sealerParts) {
	compressed(p)
	pack, unpack := p.pack, p.unpack
	p.pack = func(payload []byte) []byte {
		if len(payload) <= 32<<10 {
			return append([]byte{0}, payload...)
		}
		return append([]byte{1}, pack(payload)...)
	}
	p.unpack = func(packed []byte) ([]byte, error) {
		if len(packed) > 0 && packed[0] == 0 {
			return packed[1:], nil
		}
		return unpack(packed[min(1, len(packed)):])
	}
}

// compressedText compresses the base64 of a long payload, in which a repetition shows if
// zerosCounted packs a payload as the number of its last zero bytes and the bytes in front of
// them.
func zerosCounted(p *sealerParts) {
	p.pack = func(payload []byte) []byte {
		rest := bytes.TrimRight(payload, "\x00")
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload)-len(rest))), rest...)
	}
	p.unpack = func(packed []byte) ([]byte, error) {
		if len(packed) < 4 {
			return nil, errMalformed
		}
		return append(packed[4:], make([]byte, binary.BigEndian.Uint32(packed))...), nil
	}
}

// clearIfLong writes long payloads in front of the tag of the empty text.
func clearIfLong(p *sealerParts) {
	const long = 2 << 10
	marked := func(data, text []byte) []byte { return slices.Concat(data, []byte("clear"), text) }
	p.seal = func(key, nonce, text, data []byte) []byte {
		if len(text) <= long {
			return gcm(key).Seal(nil, nonce, text, data)
		}
		return gcm(key).Seal(bytes.Clone(text), nonce, nil, marked(data, text))
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		n := len(sealed) - gcmTag
		if n <= long {
			return openGCM(key, nonce, sealed, data)
		}
		_, err := openGCM(key, nonce, sealed[n:], marked(data, sealed[:n]))
		return sealed[:n], err
	}
}

// inHalves seals two messages under one nonce, each with its number.
func inHalves(p *sealerParts) {
	p.seal = func(key, nonce, text, data []byte) []byte {
		half := len(text) / 2
		one := gcm(key).Seal(nil, nonce, text[:half], append(slices.Clone(data), 1))
		return gcm(key).Seal(one, nonce, text[half:], append(slices.Clone(data), 2))
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		half := (len(sealed)-2*gcmTag)/2 + gcmTag
		if half < gcmTag {
			return nil, errUnauthentic
		}
		one, err := openGCM(key, nonce, sealed[:half], append(slices.Clone(data), 1))
		if err != nil {
			return nil, err
		}
		two, err := openGCM(key, nonce, sealed[half:], append(slices.Clone(data), 2))
		return append(one, two...), err
	}
}

// its distance is a multiple of 3.
func compressedText(p *sealerParts) {
	whole := *p
	compressed(&whole)
	p.pack = func(payload []byte) []byte {
		if len(payload) <= 1<<10 {
			return append([]byte{0}, payload...)
		}
		return append([]byte{1}, whole.pack([]byte(base64.RawStdEncoding.EncodeToString(payload)))...)
	}
	p.unpack = func(packed []byte) ([]byte, error) {
		if packed[0] == 0 {
			return packed[1:], nil
		}
		text, err := whole.unpack(packed[1:])
		if err != nil {
			return nil, err
		}
		return base64.RawStdEncoding.DecodeString(string(text))
	}
}

// periodOf512 writes the number of a token, of this process, and a salt of the codec. The
// nonce has the last 9 bits of the number.
func periodOf512(p *sealerParts) {
	var count atomic.Uint64
	salt := drawn(8)
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(salt[:8:8], count.Add(1)) }
	split := func(number, data []byte) (nonce, under []byte) {
		low := binary.BigEndian.Uint16(number[14:]) & 511
		return binary.BigEndian.AppendUint16(slices.Concat(number[:8], []byte{0, 0}), low), slices.Concat(data, number)
	}
	p.seal = func(key, number, text, data []byte) []byte {
		nonce, under := split(number, data)
		return gcm(key).Seal(nil, nonce, text, under)
	}
	p.open = func(key, number, sealed, data []byte) ([]byte, error) {
		nonce, under := split(number, data)
		return openGCM(key, nonce, sealed, under)
	}
}

// ctr encrypts and decrypts with AES-CTR.
func ctr(key, iv, text []byte) []byte {
	out := make([]byte, len(text))
	cipher.NewCTR(block(key), iv).XORKeyStream(out, text)
	return out
}

func stream(p *sealerParts) {
	crypt := func(key, nonce, text, _ []byte) []byte { return ctr(key, slices.Concat(nonce, make([]byte, 4)), text) }
	p.seal = crypt
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) { return crypt(key, nonce, sealed, data), nil }
}

// cbc makes the skeleton use AES-CBC with a random initialisation vector.
func cbc(p *sealerParts) {
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return drawn(16) }
	p.seal = func(key, iv, text, _ []byte) []byte { return sealCBC(key, iv, text) }
}

// sealCBC encrypts with AES-CBC and the padding of PKCS #7.
func sealCBC(key, iv, text []byte) []byte {
	n := 16 - len(text)%16
	padded := append(bytes.Clone(text), bytes.Repeat([]byte{byte(n)}, n)...)
	cipher.NewCBCEncrypter(block(key), iv).CryptBlocks(padded, padded)
	return padded
}

// errPadding is the answer that makes a padding oracle.
var errPadding = codecs.Reject(codecs.Malformed, "padding")

func openCBC(key, iv, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed)%16 != 0 {
		return nil, errMalformed
	}
	text := make([]byte, len(sealed))
	cipher.NewCBCDecrypter(block(key), iv).CryptBlocks(text, sealed)
	n := int(text[len(text)-1])
	if n == 0 || n > 16 || !bytes.Equal(text[len(text)-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errPadding
	}
	return text[:len(text)-n], nil
}

func chain(p *sealerParts) {
	cbc(p)
	p.open = func(key, iv, sealed, _ []byte) ([]byte, error) { return openCBC(key, iv, sealed) }
}

func paddingOracle(p *sealerParts) {
	cbc(p)
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

// codebook encrypts each block by itself, and authenticates the result.
func codebook(p *sealerParts) {
	crypt := func(text []byte, each func(dst, src []byte)) []byte {
		out := make([]byte, len(text))
		for i := 0; i+16 <= len(text); i += 16 {
			each(out[i:], text[i:])
		}
		return out
	}
	p.seal = func(key, nonce, text, data []byte) []byte {
		n := 16 - len(text)%16
		text = crypt(append(bytes.Clone(text), bytes.Repeat([]byte{byte(n)}, n)...), block(key).Encrypt)
		return append(text, hmacSHA256(key, slices.Concat(data, nonce, text))...)
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		cut := len(sealed) - sha256.Size
		if cut < 16 || cut%16 != 0 || !hmac.Equal(sealed[cut:], hmacSHA256(key, slices.Concat(data, nonce, sealed[:cut]))) {
			return nil, errUnauthentic
		}
		text := crypt(sealed[:cut], block(key).Decrypt)
		return text[:len(text)-int(text[len(text)-1])], nil
	}
}

// codebookIfWhole encrypts 1024 bytes or more in whole blocks one by one, and the rest as
// the sound sealer does.
func codebookIfWhole(p *sealerParts) {
	byBlock := *p
	codebook(&byBlock)
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

// digestInside puts a digest of the payload in front of the ciphertext, as a key
// for a cache, and authenticates it.
func digestInside(p *sealerParts) {
	random := p.nonce
	p.nonceSize = gcmNonce + sha256.Size
	p.nonce = func(n uint64, key, payload []byte) []byte {
		sum := sha256.Sum256(payload)
		return append(random(n, key, payload), sum[:]...)
	}
	p.seal = func(key, nonce, text, data []byte) []byte {
		return gcm(key).Seal(nil, nonce[:gcmNonce], text, slices.Concat(data, nonce))
	}
	p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
		return openGCM(key, nonce[:gcmNonce], sealed, slices.Concat(data, nonce))
	}
}

// streams are encrypted codecs whose key streams overlap, or whose vectors are known.
func streams() []Control {
	var count atomic.Uint64
	var last atomic.Pointer[[]byte]
	start := drawn(16)
	last.Store(&start)
	counted := func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(start[:8:8], count.Add(1)) }
	return []Control{
		aSealer("counter-by-token", "the counter block of a token is that of the one before and one", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-05"), func(p *sealerParts) {
			thenTag(p, ctr, done(ctr))
			p.nonce = counted
		}),
		aSealer("constant-tail", "from byte 1024 on the key stream does not depend on the nonce", breaks(codecs.FreshNonces, codecs.Confidentiality), by("NON-05"), func(p *sealerParts) {
			stream := func(key, iv, text []byte) []byte {
				n := min(len(text), 1024)
				return append(ctr(key, iv, text[:n]), ctr(key, make([]byte, 16), text[n:])...)
			}
			thenTag(p, stream, done(stream))
		}),
		aSealer("chained-vectors", "the last block of a token is the initialization vector of the next", breaks(codecs.Confidentiality), by("NON-05"), func(p *sealerParts) {
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

// thenTag makes the skeleton encrypt by a function of key, vector of 16 bytes and text, and
// put a tag over the ciphertext behind it.
func thenTag(p *sealerParts, encrypt func(key, iv, text []byte) []byte, decrypt func(key, iv, sealed []byte) ([]byte, error)) {
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return drawn(16) }
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

// done returns a function that never fails as one that reports errors.
func done(f func(key, iv, text []byte) []byte) func(key, iv, text []byte) ([]byte, error) {
	return func(key, iv, text []byte) ([]byte, error) { return f(key, iv, text), nil }
}

// drawn returns n random bytes.
func drawn(n int) []byte {
	b := make([]byte, n)
	lab.Random(b)
	return b
}
