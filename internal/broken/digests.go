package broken

import (
	"bytes"
	"crypto/aes"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash/crc32"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"sealab/codecs"
	"sealab/internal/lab"
)

// weakTagControls returns controls whose tag covers something shorter or weaker than the message.
func weakTagControls() []Control {
	made := func(name, doc, attack string, mac func(key, message []byte) []byte) Control {
		return aSigner(name, doc, []codecs.Property{codecs.Integrity}, []string{attack}, func(p *signerParts) { p.mac, p.also = mac, mac })
	}
	return []Control{
		made("tag-of-crc", "the tag is that of the CRC-32 of the message", "TAG-16", func(key, message []byte) []byte {
			return hmacSHA256(key, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(message)))
		}),
		aSigner("chained-blocks", "the tag is a CBC-MAC, for messages of any length", []codecs.Property{codecs.Integrity}, []string{"TAG-20"}, func(p *signerParts) {
			p.mac, p.tagSize = cbcMAC, aes.BlockSize
		}),
		made("sum-of-thousands", "the tag is the XOR of the tags of blocks of 1000 bytes", "TAG-16", func(key, message []byte) []byte { return sumOfBlocks(key, message, false) }),
		made("sum-of-numbered-thousands", "the tag is the XOR of the tags of numbered blocks of 1000 bytes", "TAG-14", func(key, message []byte) []byte { return sumOfBlocks(key, message, true) }),
		withDisclaimer(aScheme("tags-summed", "the tag is the XOR of a tag of the claims and one of their binding", []codecs.Property{codecs.Integrity}, []string{"TAG-14"}, func(p *schemeParts) {
			p.salt = func() []byte { return make([]byte, 16) }
			p.tag = sumOfClaims
		}), codecs.Unlinkable, "the salt is constant"),
		made("tag-of-short-digest", "the tag is that of two bytes of a digest", "TAG-18", func(key, message []byte) []byte {
			digest := sha256.Sum256(message)
			return hmacSHA256(key, digest[:2])
		}),
		made("masked-digest", "the tag is a digest under a constant mask", "TAG-13", func(key, message []byte) []byte {
			digest := sha256.Sum256(bytes.TrimPrefix(message, []byte(signerPrefix)))
			subtle.XORBytes(digest[:], digest[:], key)
			return digest[:]
		}),
		aSigner("one-nonce", "the tag is an ECDSA signature whose nonce is derived from the key alone", []codecs.Property{codecs.Integrity}, []string{"TAG-14"},
			ecdsaTags(func(key, _ []byte) []byte { return hmacSHA256(key, nil) })),
		made("half-tags", "each half of the tag is that of a part of the message", "FRM-08", func(key, message []byte) []byte {
			return slices.Concat(hmacSHA256(key, message[:min(24, len(message))])[:16], hmacSHA256(key, message[min(24, len(message)):])[:16])
		}),
		aPair("tag-as-number", "tags are compared as numbers", []codecs.Property{codecs.Canonical}, []string{"ENC-08"}, func(key []byte) pair {
			return taggedCodec(key, func(presented, right []byte) bool {
				return new(big.Int).SetBytes(presented).Cmp(new(big.Int).SetBytes(right)) == 0
			})
		}),
		aPair("chain-without-end", "each tag is the key for the next part, and anybody continues the last one", []codecs.Property{codecs.Integrity}, []string{"TAG-17"}, linkedTags),
		aPair("number-glued", "the payload and the number behind it are glued under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, gluedNumber),
		aPair("fields-glued", "two numbers and the payload are glued under the tag", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"TAG-07"}, gluedNumbers),
		aSigner("tired", "after 1500 calls the first 4 bytes of a tag are compared", []codecs.Property{codecs.Integrity}, []string{"SEQ-02"}, func(p *signerParts) {
			var calls atomic.Uint64
			mac := p.mac
			p.mac = func(key, message []byte) []byte { calls.Add(1); return mac(key, message) }
			p.equal = func(presented, right []byte) bool {
				return hmac.Equal(presented, right) || calls.Load() > 1500 && bytes.Equal(presented[:4], right[:4])
			}
		}),
		withClaim(ringControl("check-value", "the key ID is the AES encryption of zeros", []codecs.Property{codecs.PrivateKeys}, "KEY-17", func(p *ringParts) {
			p.derive = func(secret []byte) (key, id []byte) {
				key, _ = deriveKey(secret)
				check := make([]byte, aes.BlockSize)
				sum := sha256.Sum256(secret)
				aesBlock(sum[:]).Encrypt(check, check)
				return key, check[:idSize]
			}
		}), codecs.PrivateKeys),
	}
}

// cbcMAC returns the CBC-MAC of a message padded as in PKCS #7.
func cbcMAC(key, message []byte) []byte {
	sealed := sealCBC(key, make([]byte, aes.BlockSize), message)
	return sealed[len(sealed)-aes.BlockSize:]
}

// sumOfBlocks returns the XOR of the tags of a message's blocks. If numbered, each tag covers the block's
// number too.
func sumOfBlocks(key, message []byte, numbered bool) []byte {
	sum, n := make([]byte, sha256.Size), uint64(0)
	for part := range slices.Chunk(message, 1000) {
		if numbered {
			part = binary.BigEndian.AppendUint64(slices.Clip(part), n)
		}
		for i, b := range hmacSHA256(key, part) {
			sum[i] ^= b
		}
		n++
	}
	return sum
}

// sumOfClaims returns the XOR of two tags: of the claims up to the binding, and of the rest.
func sumOfClaims(key []byte, text string) []byte {
	inside, _ := decodeCanonical(strings.TrimPrefix(text, schemePrefix))
	at := max(0, bytes.LastIndex(inside, []byte(`"b":`)))
	sum := hmacSHA256(key, slices.Concat([]byte("1"), inside[:at]))
	subtle.XORBytes(sum, sum, hmacSHA256(key, slices.Concat([]byte("2"), inside[at:])))
	return sum
}

// linkedTags returns a codec of tokens
//
//	token = base64url(random[8]) "." base64url(payload) "." base64url(tag[32])
//	tag = HMAC-SHA256(HMAC-SHA256(key, random), payload)
//
// The reader accepts any number of parts and returns the last as the payload.
func linkedTags(key []byte) pair {
	link := func(parts [][]byte) []byte {
		tag := key
		for _, part := range parts {
			tag = hmacSHA256(tag, part)
		}
		return tag
	}
	return pair{
		seal: func(payload []byte) string {
			parts := [][]byte{hmacSHA256(key, payload)[:8], payload}
			return joinText(append(parts, link(parts))...)
		},
		unseal: func(token string) ([]byte, error) {
			n := strings.Count(token, ".")
			if n < 2 || n > 8 {
				return nil, errMalformed
			}
			parts, err := splitText(token, n+1)
			if err != nil {
				return nil, err
			}
			return parts[n-1], refusedUnless(hmac.Equal(parts[n], link(parts[:n])))
		},
	}
}

// gluedNumbers returns a codec of tokens
//
//	token = number "." number "." base64url(payload) "." base64url(tag[32])
//
// whose tag covers the numbers and the payload joined without a separator.
func gluedNumbers(key []byte) pair {
	tag := func(a, b string, payload []byte) []byte { return hmacSHA256(key, slices.Concat([]byte(a+b), payload)) }
	number := regexp.MustCompile(`^[1-9][0-9]{0,18}$`)
	return pair{
		seal: func(payload []byte) string {
			const a, b = "1795132800", "1795133400"
			return a + "." + b + "." + joinText(payload, tag(a, b, payload))
		},
		unseal: func(token string) ([]byte, error) {
			f := strings.SplitN(token, ".", 3)
			if len(f) != 3 || !number.MatchString(f[0]) || !number.MatchString(f[1]) {
				return nil, errMalformed
			}
			parts, err := splitText(f[2], 2)
			if err != nil {
				return nil, err
			}
			return parts[0], refusedUnless(hmac.Equal(parts[1], tag(f[0], f[1], parts[0])))
		},
	}
}

// gluedNumber returns a codec of tokens
//
//	token = base64url(payload) "." number "." base64url(tag[32])
//
// whose tag covers the payload and the number joined without a separator. The reader refuses a number that
// is too small, like an expiry.
func gluedNumber(key []byte) pair {
	const least = "1795133400"
	number := regexp.MustCompile(`^[1-9][0-9]{9,18}$`)
	tag := func(payload []byte, n string) []byte { return hmacSHA256(key, slices.Concat(payload, []byte(n))) }
	return pair{
		seal: func(payload []byte) string {
			return joinText(payload) + "." + least + "." + joinText(tag(payload, least))
		},
		unseal: func(token string) ([]byte, error) {
			f := strings.Split(token, ".")
			if len(f) != 3 || !number.MatchString(f[1]) || len(f[1]) == len(least) && f[1] < least {
				return nil, errMalformed
			}
			parts, err := splitText(f[0]+"."+f[2], 2)
			if err != nil {
				return nil, err
			}
			return parts[0], refusedUnless(hmac.Equal(parts[1], tag(parts[0], f[1])))
		},
	}
}

// numberedBlocks returns a sound design: its tag is a MAC, under a second key, of the XOR of the tags of
// numbered blocks and the length.
func numberedBlocks() codecs.Design {
	return aSigner("nothing", "a sum of the tags of numbered blocks", nil, nil, func(p *signerParts) {
		p.mac = func(key, message []byte) []byte {
			sum := binary.BigEndian.AppendUint64(sumOfBlocks(key, message, true), uint64(len(message)))
			return hmacSHA256(lab.Derive(key, "outer", sha256.Size), sum)
		}
		p.also = p.mac
	}).Design
}

// ecdsaTags makes the tag an ECDSA signature on P-256 with SHA-256: r and s, with 32 bytes each. The nonce
// is a number of 32 bytes, of which one in 2^32 is not below the order.
func ecdsaTags(nonce func(key, message []byte) []byte) func(*signerParts) {
	return func(p *signerParts) {
		p.tagSize = 64
		p.mac = func(key, message []byte) []byte {
			order, k := elliptic.P256().Params().N, nonce(key, message)
			point, err := ecdh.P256().NewPrivateKey(k)
			if err != nil {
				panic("broken: " + err.Error()) // such a nonce does not occur in tests
			}
			r := new(big.Int).SetBytes(point.PublicKey().Bytes()[1:33])
			s := new(big.Int).Mul(r, new(big.Int).SetBytes(key))
			s.Add(s, new(big.Int).SetBytes(sum256(message))).Mul(s, new(big.Int).ModInverse(new(big.Int).SetBytes(k), order)).Mod(s, order)
			return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
		p.also = p.mac
	}
}
