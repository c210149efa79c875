package broken

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// encryptionControls returns broken codecs that encrypt the payload.
func encryptionControls() []Control {
	return []Control{
		aSealer("nonce-counter", "nonces are counted from zero again after each start", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01"},
			func(p *sealerParts) { p.nonce = counterNonce }),
		aSealer("nonce-fixed", "the nonce is derived from the key", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality, codecs.Integrity}, []string{"NON-03", "NON-05"},
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, _ []byte) []byte { return lab.Derive(key, "nonce", gcmNonce) }
			}),
		aSealer("nonce-of-2", "the nonce has two random bytes", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01"},
			func(p *sealerParts) {
				p.nonce = func(uint64, []byte, []byte) []byte {
					return append(randomBytes(2), make([]byte, gcmNonce-2)...)
				}
			}),
		aSealer("nonce-of-payload", "the nonce is a digest of the payload", []codecs.Property{codecs.Confidentiality}, []string{"NON-03"},
			func(p *sealerParts) {
				p.nonce = func(_ uint64, key, payload []byte) []byte { return hmacSHA256(key, payload)[:gcmNonce] }
			}),
		atLength(1<<17, aSealer("compressed-if-long", "a payload over 32 KiB is compressed before it is sealed, and its length not bounded",
			[]codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05"}, compressedIfLong)),
		aSealer("compressed", "the payload is compressed before it is sealed, and its length not bounded", []codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05", "PAY-04"}, compressPayload),
		aSealer("compressed-text", "a payload over 1 KiB is compressed as base64, and its length not bounded", []codecs.Property{codecs.Confidentiality, codecs.Total}, []string{"PAY-05"}, compressedText),
		aSealer("zeros-counted", "zero bytes at the end of the payload are counted and not sealed", []codecs.Property{codecs.Confidentiality}, []string{"PAY-05"}, zerosCounted),
		aSealer("clear-if-long", "a payload over 2 KiB is under the tag and not encrypted", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"}, clearIf(func(text []byte) bool { return len(text) > 2<<10 })),
		aSealer("clear-if-no-json", "a payload that is no JSON object is under the tag and not encrypted", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"},
			clearIf(func(text []byte) bool { return !bytes.HasPrefix(text, []byte("{")) })),
		aSealer("two-halves", "each half of the payload is sealed under the nonce of the token", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-05"}, inHalves),
		aSealer("period-of-512", "of the number of a token 9 bits are in the nonce, and all of it under the tag", []codecs.Property{codecs.FreshNonces, codecs.Confidentiality}, []string{"NON-01", "NON-10"}, periodOf512),
		aSealer("stream", "AES-CTR without a tag", []codecs.Property{codecs.Integrity}, []string{"FRM-01", "FRM-07", "FRM-08"}, streamCipher),
		aSealer("chain", "AES-CBC without a tag", []codecs.Property{codecs.Integrity}, []string{"FRM-07"}, cbcCipher),
		aSealer("padding-oracle", "AES-CBC, and the tag is checked after the padding", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, paddingOracle),
		aSealer("padding-oracle-of-old-keys", "AES-CBC, and the tag is checked after the padding if the key is not the first of the ring",
			[]codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, paddingOracleOfOldKeys),
		aSealer("old-padding", "AES-CBC over the payload, its tag and random padding, of which only the length is read (SSL 3.0)",
			[]codecs.Property{codecs.Canonical, codecs.Integrity}, []string{"FRM-11"}, func(p *sealerParts) { tagBeforeCBC(p, padAtRandom, unpadByLength) }),
		aSealer("two-lengths", "32 bytes behind the tag are ignored", []codecs.Property{codecs.Canonical}, []string{"ENC-08"}, func(p *sealerParts) {
			open := p.open
			p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
				text, err := open(key, nonce, sealed, data)
				if err != nil && len(sealed) >= 32 {
					return open(key, nonce, sealed[:len(sealed)-32], data)
				}
				return text, err
			}
		}),
		aSealer("judged-text", "a key stream with a tag behind it, and whether the text is JSON is judged before the tag", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-08"}, judgedText),
		aSealer("electronic-codebook", "blocks are encrypted one by one", []codecs.Property{codecs.Confidentiality}, []string{"NON-06"}, ecbCipher),
		aSealer("codebook-if-whole", "payloads of whole blocks are encrypted block by block", []codecs.Property{codecs.Confidentiality}, []string{"NON-06"}, codebookIfWhole),
		aSealer("digest-inside", "a digest of the payload stands in front of the ciphertext", []codecs.Property{codecs.Confidentiality}, []string{"PAY-07"},
			digestInside(func(_, payload []byte) []byte { return sum256(payload) })),
		aSealer("salted-digest-inside", "four bytes of a digest of the nonce and the payload stand in front of the ciphertext",
			[]codecs.Property{codecs.Confidentiality}, []string{"PAY-07"}, digestInside(func(nonce, payload []byte) []byte { return sum256(slices.Concat(nonce, payload))[:4] })),
		withClaim(aSealer("misuse", "AES-GCM, said to stand a nonce that repeats", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(*sealerParts) {}), codecs.NonceMisuseResistant),
		withClaim(aSealer("key-id-of-a-byte", "AES-GCM with a key id of one byte, said to commit to its key", []codecs.Property{codecs.KeyCommitting, codecs.Rotation}, []string{"KEY-09"},
			func(p *sealerParts) {
				p.derive = func(secret []byte) (key, id []byte) {
					key, id = deriveKey(secret)
					return key, []byte{id[0], 0, 0, 0}
				}
			}), codecs.KeyCommitting),
		aSealer("nonce-apart", "the nonce has a piece of its own, and its length is not checked", []codecs.Property{codecs.Total}, []string{"NON-02"}, nonceApart),
		aSealer("associated-data", "the key id is not associated data, and an unknown one is the first key's", []codecs.Property{codecs.Integrity, codecs.Rotation}, []string{"FRM-07"},
			func(p *sealerParts) {
				p.data = func([]byte) []byte { return nil }
				p.lookup = func(r *ring, _ []byte) *entry { return r.entries[0] }
			}),
	}
}

// derivedNonceControls returns controls whose nonce is a digest of part of the payload, or of a checksum
// that is too short.
func derivedNonceControls() []Control {
	of := func(name, doc string, broken []codecs.Property, attacks []string, part func(payload []byte) string) Control {
		c := aSealer(name, doc, broken, attacks, func(p *sealerParts) {
			p.nonce = func(_ uint64, key, payload []byte) []byte {
				return hmacSHA256(key, fmt.Append(nil, len(payload), " ", part(payload)))[:gcmNonce]
			}
		})
		if !slices.Contains(broken, codecs.FreshNonces) {
			c = withDisclaimer(c, codecs.FreshNonces, "there is no other nonce")
		}
		return withClaim(withDisclaimer(c, codecs.Confidentiality, "equal payloads give equal tokens"), codecs.NonceMisuseResistant)
	}
	return []Control{
		of("nonce-of-end", "the nonce is a digest of the last 64 bytes and the length of the payload",
			[]codecs.Property{codecs.NonceMisuseResistant, codecs.FreshNonces, codecs.Integrity}, []string{"NON-07", "TAG-14"},
			func(payload []byte) string { return string(payload[max(0, len(payload)-64):]) }),
		of("nonce-of-beginning", "the nonce is a digest of the first 8 KiB and the length of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string { return string(payload[:min(len(payload), 8<<10)]) }),
		of("nonce-of-ends", "the nonce is a digest of both ends and the length of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string {
				n := min(len(payload), 48)
				return string(payload[:n]) + string(payload[len(payload)-n:])
			}),
		of("nonce-of-sum", "the nonce is a digest of the length and of a sum of 16 bits of the payload", []codecs.Property{codecs.NonceMisuseResistant}, []string{"NON-07"},
			func(payload []byte) string { return fmt.Sprint(crc32.ChecksumIEEE(payload) & 0xffff) }),
	}
}

// nonceApart gives the nonce its own segment of the token. The cipher panics on a nonce of another length.
func nonceApart(p *sealerParts) {
	p.frame = func(id, nonce, sealed []byte) string {
		return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(id), nonce...)) + "." + base64.RawURLEncoding.EncodeToString(sealed)
	}
	p.unframe = func(text string, _ int) (id, nonce, sealed []byte, ok bool) {
		head, tail, ok := strings.Cut(text, ".")
		raw, okHead := decodeCanonical(head)
		sealed, okTail := decodeCanonical(tail)
		if !ok || !okHead || !okTail || len(raw) < idSize {
			return nil, nil, nil, false
		}
		return raw[:idSize], raw[idSize:], sealed, true
	}
}

func counterNonce(n uint64, _, _ []byte) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4), n)
}

// clearIf writes some payloads in clear, authenticated as associated data. The first byte marks them.
func clearIf(clear func(text []byte) bool) func(*sealerParts) {
	const hidden, shown = "\x00", "\x01"
	return func(p *sealerParts) {
		p.seal = func(key, nonce, text, data []byte) []byte {
			if !clear(text) {
				return newGCM(key).Seal([]byte(hidden), nonce, text, data)
			}
			return newGCM(key).Seal([]byte(shown+string(text)), nonce, nil, slices.Concat(data, []byte(shown), text))
		}
		p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
			n := len(sealed) - gcmTag
			switch {
			case n > 0 && string(sealed[:1]) == hidden:
				return openGCM(key, nonce, sealed[1:], data)
			case n > 0 && string(sealed[:1]) == shown:
				_, err := openGCM(key, nonce, sealed[n:], slices.Concat(data, sealed[:n]))
				return sealed[1:n], err
			}
			return nil, errUnauthentic
		}
	}
}

// inHalves seals the two halves of a message under one nonce, each with its number.
func inHalves(p *sealerParts) {
	p.seal = func(key, nonce, text, data []byte) []byte {
		half := len(text) / 2
		one := newGCM(key).Seal(nil, nonce, text[:half], append(slices.Clone(data), 1))
		return newGCM(key).Seal(one, nonce, text[half:], append(slices.Clone(data), 2))
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

// periodOf512 writes a counter and a salt of the codec into the token. The nonce uses only the last 9 bits
// of the counter.
func periodOf512(p *sealerParts) {
	var count atomic.Uint64
	salt := randomBytes(8)
	p.nonceSize = 16
	p.nonce = func(uint64, []byte, []byte) []byte { return binary.BigEndian.AppendUint64(salt[:8:8], count.Add(1)) }
	split := func(number, data []byte) (nonce, under []byte) {
		low := binary.BigEndian.Uint16(number[14:]) & 511
		return binary.BigEndian.AppendUint16(slices.Concat(number[:8], []byte{0, 0}), low), slices.Concat(data, number)
	}
	p.seal = func(key, number, text, data []byte) []byte {
		nonce, under := split(number, data)
		return newGCM(key).Seal(nil, nonce, text, under)
	}
	p.open = func(key, number, sealed, data []byte) ([]byte, error) {
		nonce, under := split(number, data)
		return openGCM(key, nonce, sealed, under)
	}
}

// errPadding is the refusal that makes a padding oracle.
var errPadding = codecs.Reject(codecs.Malformed, "padding")

// digestInside writes a digest of the payload in front of the ciphertext, as a cache key, and
// authenticates it.
func digestInside(digest func(nonce, payload []byte) []byte) func(*sealerParts) {
	return func(p *sealerParts) {
		random := p.nonce
		p.nonceSize = gcmNonce + len(digest(nil, nil))
		p.nonce = func(n uint64, key, payload []byte) []byte {
			nonce := random(n, key, payload)
			return slices.Concat(nonce, digest(nonce, payload))
		}
		p.seal = func(key, nonce, text, data []byte) []byte {
			return newGCM(key).Seal(nil, nonce[:gcmNonce], text, slices.Concat(data, nonce))
		}
		p.open = func(key, nonce, sealed, data []byte) ([]byte, error) {
			return openGCM(key, nonce[:gcmNonce], sealed, slices.Concat(data, nonce))
		}
	}
}

func sum256(message []byte) []byte {
	sum := sha256.Sum256(message)
	return sum[:]
}

// randomBytes returns n random bytes.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	lab.Random(b)
	return b
}
