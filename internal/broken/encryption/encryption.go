// Package encryption holds the negative controls of encryption: codecs with repeated nonces, padding that
// tells, compression or no tag.
package encryption

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// Encrypted returns broken codecs that encrypt the payload.
func Encrypted() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSealer("nonce-counter", "nonces are counted from zero again after each start", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01"},
			func(p *skeleton.SealerParts) { p.Nonce = counterNonce }),
		skeleton.NewSealer("nonce-fixed", "the nonce is derived from the key", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality, codecs.Integrity}, []string{"NON-03", "NON-05"},
			func(p *skeleton.SealerParts) {
				p.Nonce = func(_ uint64, key, _ []byte) []byte { return lab.Derive(key, "nonce", skeleton.GCMNonce) }
			}),
		skeleton.NewSealer("nonce-of-2", "the nonce has two random bytes", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01"},
			func(p *skeleton.SealerParts) {
				p.Nonce = func(uint64, []byte, []byte) []byte {
					return append(skeleton.RandomBytes(2), make([]byte, skeleton.GCMNonce-2)...)
				}
			}),
		skeleton.NewSealer("nonce-of-payload", "the nonce is a digest of the payload", []codecs.Property{codecs.Confidentiality}, []string{"NON-03"},
			func(p *skeleton.SealerParts) {
				p.Nonce = func(_ uint64, key, payload []byte) []byte { return skeleton.HMAC(key, payload)[:skeleton.GCMNonce] }
			}),
		skeleton.AtLength(1<<17, skeleton.NewSealer("compressed-if-long", "a payload over 32 KiB is compressed before it is sealed, and its length not bounded",
			[]codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05"}, compressedIfLong)),
		skeleton.NewSealer("compressed", "the payload is compressed before it is sealed, and its length not bounded", []codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05", "PAY-04"}, compressPayload),
		skeleton.NewSealer("compressed-text", "a payload over 1 KiB is compressed as base64, and its length not bounded", []codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05"}, compressedText),
		skeleton.NewSealer("zeros-counted", "zero bytes at the end of the payload are counted and not sealed", []codecs.Property{codecs.Confidentiality}, []string{"PAY-05"}, zerosCounted),
		skeleton.NewSealer("hex-packed", "a payload of small hex digits is sealed in half as many bytes", []codecs.Property{codecs.Confidentiality}, []string{"PAY-05"}, hexPacked),
		skeleton.NewSealer("clear-if-long", "a payload over 2 KiB is under the tag and not encrypted", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"}, clearIf(func(text []byte) bool { return len(text) > 2<<10 })),
		skeleton.NewSealer("clear-if-no-json", "a payload that is no JSON object is under the tag and not encrypted", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"},
			clearIf(func(text []byte) bool { return !bytes.HasPrefix(text, []byte("{")) })),
		skeleton.NewSealer("two-halves", "each half of the payload is sealed under the nonce of the token", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, inHalves),
		skeleton.NewSealer("period-of-512", "of the number of a token 9 bits are in the nonce, and all of it under the tag", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01", "NON-10"}, periodOf512),
		skeleton.NewSealer("stream", "AES-CTR without a tag", []codecs.Property{codecs.Integrity}, []string{"FRM-01", "FRM-07", "FRM-08"}, streamCipher),
		skeleton.NewSealer("chain", "AES-CBC without a tag", []codecs.Property{codecs.Integrity}, []string{"FRM-07"}, cbcCipher),
		skeleton.NewSealer("padding-oracle-of-short", "AES-CBC with a tag below the padding, and a text that is too short for the tag is malformed", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, paddingOracleOfShort),
		skeleton.NewSealer("padding-oracle", "AES-CBC, and the tag is checked after the padding", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, paddingOracle),
		skeleton.NewSealer("padding-oracle-of-old-keys", "AES-CBC, and the tag is checked after the padding if the key is not the first of the ring",
			[]codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, paddingOracleOfOldKeys),
		skeleton.NewSealer("old-padding", "AES-CBC over the payload, its tag and random padding, of which only the length is read (SSL 3.0)",
			[]codecs.Property{codecs.Canonical, codecs.Integrity}, []string{"FRM-11"}, func(p *skeleton.SealerParts) { tagBeforeCBC(p, padAtRandom, unpadByLength) }),
		skeleton.NewSealer("two-lengths", "32 bytes behind the tag are ignored", []codecs.Property{codecs.Canonical}, []string{"ENC-08"}, func(p *skeleton.SealerParts) {
			open := p.Decrypt
			p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
				text, err := open(key, nonce, sealed, data)
				if err != nil && len(sealed) >= 32 {
					return open(key, nonce, sealed[:len(sealed)-32], data)
				}
				return text, err
			}
		}),
		skeleton.NewSealer("judged-text", "a key stream with a tag behind it, and whether the text is JSON is judged before the tag", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, judgedText),
		skeleton.NewSealer("electronic-codebook", "blocks are encrypted one by one", []codecs.Property{codecs.Confidentiality}, []string{"NON-06"}, ecbCipher),
		skeleton.NewSealer("codebook-if-whole", "payloads of whole blocks are encrypted block by block", []codecs.Property{codecs.Confidentiality}, []string{"NON-06"}, codebookIfWhole),
		skeleton.NewSealer("digest-inside", "a digest of the payload stands in front of the ciphertext", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"},
			digestInside(func(_, payload []byte) []byte { return skeleton.Sum256(payload) })),
		skeleton.NewSealer("salted-digest-inside", "four bytes of a digest of the nonce and the payload stand in front of the ciphertext",
			[]codecs.Property{codecs.Confidentiality}, []string{"PAY-07"}, digestInside(func(nonce, payload []byte) []byte { return skeleton.Sum256(slices.Concat(nonce, payload))[:4] })),
		skeleton.WithClaim(skeleton.NewSealer("misuse", "AES-GCM, said to stand a nonce that repeats", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(*skeleton.SealerParts) {}), codecs.NonceMisuseResistant),
		skeleton.WithClaim(skeleton.NewSealer("key-id-of-a-byte", "AES-GCM with a key id of one byte, said to commit to its key", []codecs.Property{codecs.KeyCommitting, codecs.Rotation}, []string{"KEY-09"},
			func(p *skeleton.SealerParts) {
				p.Derive = func(secret []byte) (key, id []byte) {
					key, id = skeleton.DeriveKey(secret)
					return key, []byte{id[0], 0, 0, 0}
				}
			}), codecs.KeyCommitting),
		skeleton.NewSealer("nonce-apart", "the nonce has a piece of its own, and its length is not checked", []codecs.Property{codecs.Total}, []string{"NON-02"}, nonceApart),
		skeleton.NewSealer("associated-data", "the key id is not associated data, and an unknown one is the first key's", []codecs.Property{codecs.Integrity, codecs.Rotation}, []string{"FRM-07"},
			func(p *skeleton.SealerParts) {
				p.Data = func([]byte) []byte { return nil }
				p.Lookup = func(r *skeleton.Ring, _ []byte) *skeleton.Entry { return r.Entries[0] }
			}),
	}
}

// nonceApart gives the nonce its own segment of the token. The cipher panics on a nonce of another length.
func nonceApart(p *skeleton.SealerParts) {
	p.Frame = func(id, nonce, sealed []byte) string {
		return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(id), nonce...)) + "." + base64.RawURLEncoding.EncodeToString(sealed)
	}
	p.Unframe = func(text string, _ int) (id, nonce, sealed []byte, ok bool) {
		head, tail, ok := strings.Cut(text, ".")
		raw, okHead := skeleton.DecodeCanonical(head)
		sealed, okTail := skeleton.DecodeCanonical(tail)
		if !ok || !okHead || !okTail || len(raw) < skeleton.IDSize {
			return nil, nil, nil, false
		}
		return raw[:skeleton.IDSize], raw[skeleton.IDSize:], sealed, true
	}
}

func counterNonce(n uint64, _, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4), n)
}

// clearIf writes some payloads in clear, authenticated as associated data. The first byte marks them.
func clearIf(clear func(text []byte) bool) func(*skeleton.SealerParts) {
	const hidden, shown = "\x00", "\x01"
	return func(p *skeleton.SealerParts) {
		p.Encrypt = func(key, nonce, text, data []byte) []byte {
			if !clear(text) {
				return skeleton.NewGCM(key).Seal([]byte(hidden), nonce, text, data)
			}
			return skeleton.NewGCM(key).Seal([]byte(shown+string(text)), nonce, nil, slices.Concat(data, []byte(shown), text))
		}
		p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
			n := len(sealed) - skeleton.GCMTag
			switch {
			case n > 0 && string(sealed[:1]) == hidden:
				return skeleton.OpenGCM(key, nonce, sealed[1:], data)
			case n > 0 && string(sealed[:1]) == shown:
				_, err := skeleton.OpenGCM(key, nonce, sealed[n:], slices.Concat(data, sealed[:n]))
				return sealed[1:n], err
			}
			return nil, skeleton.ErrUnauthentic
		}
	}
}

// inHalves seals the two halves of a message under one nonce, each with its number.
func inHalves(p *skeleton.SealerParts) {
	p.Encrypt = func(key, nonce, text, data []byte) []byte {
		half := len(text) / 2
		one := skeleton.NewGCM(key).Seal(nil, nonce, text[:half], append(slices.Clone(data), 1))
		return skeleton.NewGCM(key).Seal(one, nonce, text[half:], append(slices.Clone(data), 2))
	}
	p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
		half := (len(sealed)-2*skeleton.GCMTag)/2 + skeleton.GCMTag
		if half < skeleton.GCMTag {
			return nil, skeleton.ErrUnauthentic
		}
		one, err := skeleton.OpenGCM(key, nonce, sealed[:half], append(slices.Clone(data), 1))
		if err != nil {
			return nil, err
		}
		two, err := skeleton.OpenGCM(key, nonce, sealed[half:], append(slices.Clone(data), 2))
		return append(one, two...), err
	}
}

// periodOf512 writes a counter and a salt of the codec into the token. The nonce uses only the last 9 bits
// of the counter.
func periodOf512(p *skeleton.SealerParts) {
	var count atomic.Uint64
	salt := skeleton.RandomBytes(8)
	p.NonceSize = 16
	p.Nonce = func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(salt[:8:8], count.Add(1)) }
	split := func(number, data []byte) (nonce, under []byte) {
		low := binary.BigEndian.Uint16(number[14:]) & 511
		return binary.BigEndian.AppendUint16(slices.Concat(number[:8], []byte{0, 0}), low), slices.Concat(data, number)
	}
	p.Encrypt = func(key, number, text, data []byte) []byte {
		nonce, under := split(number, data)
		return skeleton.NewGCM(key).Seal(nil, nonce, text, under)
	}
	p.Decrypt = func(key, number, sealed, data []byte) ([]byte, error) {
		nonce, under := split(number, data)
		return skeleton.OpenGCM(key, nonce, sealed, under)
	}
}

// digestInside writes a digest of the payload in front of the ciphertext, as a cache key, and
// authenticates it.
func digestInside(digest func(nonce, payload []byte) []byte) func(*skeleton.SealerParts) {
	return func(p *skeleton.SealerParts) {
		random := p.Nonce
		p.NonceSize = skeleton.GCMNonce + len(digest(nil, nil))
		p.Nonce = func(n uint64, key, payload []byte) []byte {
			nonce := random(n, key, payload)
			return slices.Concat(nonce, digest(nonce, payload))
		}
		p.Encrypt = func(key, nonce, text, data []byte) []byte {
			return skeleton.NewGCM(key).Seal(nil, nonce[:skeleton.GCMNonce], text, slices.Concat(data, nonce))
		}
		p.Decrypt = func(key, nonce, sealed, data []byte) ([]byte, error) {
			return skeleton.OpenGCM(key, nonce[:skeleton.GCMNonce], sealed, slices.Concat(data, nonce))
		}
	}
}
