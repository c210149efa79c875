package tags

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
	"sealab/internal/broken/skeleton"
	"sealab/internal/lab"
)

// Weak returns controls whose tag covers something shorter or weaker than the message.
func Weak() []skeleton.Control {
	made := func(name, doc, attack string, mac func(key, message []byte) []byte) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Integrity}, []string{attack}, func(p *skeleton.SignerParts) { p.MAC, p.Also = mac, mac })
	}
	return []skeleton.Control{
		made("tag-of-crc", "the tag is that of the CRC-32 of the message", "TAG-16", func(key, message []byte) []byte {
			return skeleton.HMAC(key, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(message)))
		}),
		skeleton.NewSigner("chained-blocks", "the tag is a CBC-MAC, for messages of any length", []codecs.Property{codecs.Integrity}, []string{"TAG-20"}, func(p *skeleton.SignerParts) {
			p.MAC, p.TagSize = cbcMAC, aes.BlockSize
		}),
		made("tree-with-twin", "the tag is that of the root of a tree of hashes, which pairs the last of an odd number with itself", "FRM-11", func(key, message []byte) []byte {
			return skeleton.HMAC(key, rootOf(message, func(last []byte) []byte { return joinedHash(last, last) }))
		}),
		made("sum-of-thousands", "the tag is the XOR of the tags of blocks of 1000 bytes", "TAG-16", func(key, message []byte) []byte { return sumOfBlocks(key, message, false) }),
		made("sum-of-numbered-thousands", "the tag is the XOR of the tags of numbered blocks of 1000 bytes", "TAG-14", func(key, message []byte) []byte { return sumOfBlocks(key, message, true) }),
		skeleton.WithDisclaimer(skeleton.NewScheme("tags-summed", "the tag is the XOR of a tag of the claims and one of their binding", []codecs.Property{codecs.Integrity}, []string{"TAG-14"}, func(p *skeleton.SchemeParts) {
			p.Salt = func() []byte { return make([]byte, 16) }
			p.Tag = sumOfClaims
		}), codecs.Unlinkable, "the salt is constant"),
		made("tag-of-short-digest", "the tag is that of two bytes of a digest", "TAG-18", func(key, message []byte) []byte {
			digest := sha256.Sum256(message)
			return skeleton.HMAC(key, digest[:2])
		}),
		made("masked-digest", "the tag is a digest under a constant mask", "TAG-13", func(key, message []byte) []byte {
			digest := sha256.Sum256(bytes.TrimPrefix(message, []byte(skeleton.SignerPrefix)))
			subtle.XORBytes(digest[:], digest[:], key)
			return digest[:]
		}),
		skeleton.NewSigner("one-nonce", "the tag is an ECDSA signature whose nonce is derived from the key alone", []codecs.Property{codecs.Integrity}, []string{"TAG-14"},
			ecdsaTags(func(key, _ []byte) []byte { return skeleton.HMAC(key, nil) })),
		made("half-tags", "each half of the tag is that of a part of the message", "FRM-08", func(key, message []byte) []byte {
			return slices.Concat(skeleton.HMAC(key, message[:min(24, len(message))])[:16], skeleton.HMAC(key, message[min(24, len(message)):])[:16])
		}),
		skeleton.NewPair("tag-as-number", "tags are compared as numbers", []codecs.Property{codecs.Canonical}, []string{"ENC-08"}, func(key []byte) skeleton.Pair {
			return skeleton.ComparedPair(key, func(presented, right []byte) bool {
				return new(big.Int).SetBytes(presented).Cmp(new(big.Int).SetBytes(right)) == 0
			})
		}),
		skeleton.NewPair("chain-without-end", "each tag is the key for the next part, and anybody continues the last one", []codecs.Property{codecs.Integrity}, []string{"TAG-17"}, linkedTags),
		skeleton.NewPair("macaroon-packets", "the payload is the last caveat of a macaroon in packets", []codecs.Property{codecs.Integrity}, []string{"TAG-17"}, func(key []byte) skeleton.Pair { return inMacaroon(key, packets, false) }),
		skeleton.NewPair("macaroon-fields", "the payload is the last caveat of a macaroon in fields", []codecs.Property{codecs.Integrity}, []string{"TAG-17"}, func(key []byte) skeleton.Pair { return inMacaroon(key, fields, false) }),
		skeleton.NewPair("number-glued", "the payload and the number behind it are glued under the tag", []codecs.Property{codecs.Integrity}, []string{"TAG-07"}, gluedNumber),
		skeleton.NewPair("fields-glued", "two numbers and the payload are glued under the tag", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"TAG-07"}, gluedNumbers),
		skeleton.NewSigner("tired", "after 1500 calls the first 4 bytes of a tag are compared", []codecs.Property{codecs.Integrity}, []string{"SEQ-02"}, func(p *skeleton.SignerParts) {
			var calls atomic.Uint64
			mac := p.MAC
			p.MAC = func(key, message []byte) []byte { calls.Add(1); return mac(key, message) }
			p.Equal = func(presented, right []byte) bool {
				return hmac.Equal(presented, right) || calls.Load() > 1500 && bytes.Equal(presented[:4], right[:4])
			}
		}),
		skeleton.WithClaim(skeleton.NewRing("check-value", "the key ID is the AES encryption of zeros", []codecs.Property{codecs.PrivateKeys}, "KEY-17", func(p *skeleton.RingParts) {
			p.Derive = func(secret []byte) (key, id []byte) {
				key, _ = skeleton.DeriveKey(secret)
				check := make([]byte, aes.BlockSize)
				sum := sha256.Sum256(secret)
				skeleton.AESBlock(sum[:]).Encrypt(check, check)
				return key, check[:skeleton.IDSize]
			}
		}), codecs.PrivateKeys),
	}
}

// cbcMAC returns the CBC-MAC of a message padded as in PKCS #7.
func cbcMAC(key, message []byte) []byte {
	sealed := skeleton.SealCBC(key, make([]byte, aes.BlockSize), message)
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
		for i, b := range skeleton.HMAC(key, part) {
			sum[i] ^= b
		}
		n++
	}
	return sum
}

// sumOfClaims returns the XOR of two tags: of the claims up to the binding, and of the rest.
func sumOfClaims(key []byte, text string) []byte {
	inside, _ := skeleton.DecodeCanonical(strings.TrimPrefix(text, skeleton.SchemePrefix))
	at := max(0, bytes.LastIndex(inside, []byte(`"b":`)))
	sum := skeleton.HMAC(key, slices.Concat([]byte("1"), inside[:at]))
	subtle.XORBytes(sum, sum, skeleton.HMAC(key, slices.Concat([]byte("2"), inside[at:])))
	return sum
}

// linkedTags returns a codec of tokens
//
//	token = base64url(random[8]) "." base64url(payload) "." base64url(tag[32])
//	tag = HMAC-SHA256(HMAC-SHA256(key, random), payload)
//
// The reader accepts any number of parts and returns the last as the payload.
func linkedTags(key []byte) skeleton.Pair {
	link := func(parts [][]byte) []byte {
		tag := key
		for _, part := range parts {
			tag = skeleton.HMAC(tag, part)
		}
		return tag
	}
	return skeleton.Pair{
		Write: func(payload []byte) string {
			parts := [][]byte{skeleton.HMAC(key, payload)[:8], payload}
			return skeleton.JoinText(append(parts, link(parts))...)
		},
		Read: func(token string) ([]byte, error) {
			n := strings.Count(token, ".")
			if n < 2 || n > 8 {
				return nil, skeleton.ErrMalformed
			}
			parts, err := skeleton.SplitText(token, n+1)
			if err != nil {
				return nil, err
			}
			return parts[n-1], skeleton.Authentic(hmac.Equal(parts[n], link(parts[:n])))
		},
	}
}

// gluedNumbers returns a codec of tokens
//
//	token = number "." number "." base64url(payload) "." base64url(tag[32])
//
// whose tag covers the numbers and the payload joined without a separator.
func gluedNumbers(key []byte) skeleton.Pair {
	tag := func(a, b string, payload []byte) []byte {
		return skeleton.HMAC(key, slices.Concat([]byte(a+b), payload))
	}
	number := regexp.MustCompile(`^[1-9][0-9]{0,18}$`)
	return skeleton.Pair{
		Write: func(payload []byte) string {
			const a, b = "1795132800", "1795133400"
			return a + "." + b + "." + skeleton.JoinText(payload, tag(a, b, payload))
		},
		Read: func(token string) ([]byte, error) {
			f := strings.SplitN(token, ".", 3)
			if len(f) != 3 || !number.MatchString(f[0]) || !number.MatchString(f[1]) {
				return nil, skeleton.ErrMalformed
			}
			parts, err := skeleton.SplitText(f[2], 2)
			if err != nil {
				return nil, err
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], tag(f[0], f[1], parts[0])))
		},
	}
}

// gluedNumber returns a codec of tokens
//
//	token = base64url(payload) "." number "." base64url(tag[32])
//
// whose tag covers the payload and the number joined without a separator. The reader refuses a number that
// is too small, like an expiry.
func gluedNumber(key []byte) skeleton.Pair {
	const least = "1795133400"
	number := regexp.MustCompile(`^[1-9][0-9]{9,18}$`)
	tag := func(payload []byte, n string) []byte { return skeleton.HMAC(key, slices.Concat(payload, []byte(n))) }
	return skeleton.Pair{
		Write: func(payload []byte) string {
			return skeleton.JoinText(payload) + "." + least + "." + skeleton.JoinText(tag(payload, least))
		},
		Read: func(token string) ([]byte, error) {
			f := strings.Split(token, ".")
			if len(f) != 3 || !number.MatchString(f[1]) || len(f[1]) == len(least) && f[1] < least {
				return nil, skeleton.ErrMalformed
			}
			parts, err := skeleton.SplitText(f[0]+"."+f[2], 2)
			if err != nil {
				return nil, err
			}
			return parts[0], skeleton.Authentic(hmac.Equal(parts[1], tag(parts[0], f[1])))
		},
	}
}

// numberedBlocks returns a sound design: its tag is a MAC, under a second key, of the XOR of the tags of
// numbered blocks and the length.
func numberedBlocks() codecs.Design {
	return skeleton.NewSigner("nothing", "a sum of the tags of numbered blocks", nil, nil, func(p *skeleton.SignerParts) {
		p.MAC = func(key, message []byte) []byte {
			sum := binary.BigEndian.AppendUint64(sumOfBlocks(key, message, true), uint64(len(message)))
			return skeleton.HMAC(lab.Derive(key, "outer", sha256.Size), sum)
		}
		p.Also = p.MAC
	}).Design
}

// ecdsaTags makes the tag an ECDSA signature on P-256 with SHA-256: r and s, with 32 bytes each. The nonce
// is a number of 32 bytes, of which one in 2^32 is not below the order.
func ecdsaTags(nonce func(key, message []byte) []byte) func(*skeleton.SignerParts) {
	return func(p *skeleton.SignerParts) {
		p.TagSize = 64
		p.MAC = func(key, message []byte) []byte {
			order, k := elliptic.P256().Params().N, nonce(key, message)
			point, err := ecdh.P256().NewPrivateKey(k)
			if err != nil {
				panic("broken: " + err.Error()) // such a nonce does not occur in tests
			}
			r := new(big.Int).SetBytes(point.PublicKey().Bytes()[1:33])
			s := new(big.Int).Mul(r, new(big.Int).SetBytes(key))
			s.Add(s, new(big.Int).SetBytes(skeleton.Sum256(message))).Mul(s, new(big.Int).ModInverse(new(big.Int).SetBytes(k), order)).Mod(s, order)
			return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}
		p.Also = p.MAC
	}
}

// rootOf returns the root of a tree of SHA-256 hashes over leaves of 32 bytes. The function single
// returns the parent of the last hash of an odd number.
func rootOf(message []byte, single func(last []byte) []byte) []byte {
	var level [][]byte
	for leaf := range slices.Chunk(message, 32) {
		level = append(level, skeleton.Sum256(append([]byte{0}, leaf...)))
	}
	for len(level) > 1 {
		var above [][]byte
		for pair := range slices.Chunk(level, 2) {
			if len(pair) == 1 {
				above = append(above, single(pair[0]))
				continue
			}
			above = append(above, joinedHash(pair[0], pair[1]))
		}
		level = above
	}
	return level[0]
}

// joinedHash returns the parent of two hashes of a tree.
func joinedHash(a, b []byte) []byte { return skeleton.Sum256(slices.Concat([]byte{1}, a, b)) }
