// Package tags holds the negative controls of tags: codecs whose tag is weak, covers too little or is not
// checked.
package tags

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Replaced returns signers with another tag or another comparison of tags.
func Replaced() []skeleton.Control {
	compared := func(name, doc string, attacks []string, equal func(presented, right []byte) bool) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Integrity}, attacks, func(p *skeleton.SignerParts) { p.Equal = equal })
	}
	made := func(name, doc string, attacks []string, size int, mac func(key, message []byte) []byte) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Integrity}, attacks, func(p *skeleton.SignerParts) { p.TagSize, p.MAC, p.Also = size, mac, mac })
	}
	return []skeleton.Control{
		compared("compare-half", "the first half of the tag is compared", []string{"FRM-07"},
			func(presented, right []byte) bool { return bytes.Equal(presented[:16], right[:16]) }),
		compared("compare-sum", "differences are summed up in a byte", []string{"TAG-03"}, sumOfDifferences),
		compared("zero-tag", "a tag of zero bytes means that checking is off", []string{"TAG-02"},
			func(presented, right []byte) bool {
				return bytes.Equal(presented, make([]byte, len(presented))) || bytes.Equal(presented, right)
			}),
		made("tag-of-4", "the tag is cut to 4 bytes", []string{"TAG-12"}, 4,
			func(key, message []byte) []byte { return skeleton.HMAC(key, message)[:4] }),
		made("tag-of-4-repeated", "the tag is 4 bytes, and their complement, again and again", []string{"TAG-12"}, sha256.Size,
			func(key, message []byte) []byte {
				tag := skeleton.HMAC(key, message)[:4]
				for _, b := range tag[:4] {
					tag = append(tag, ^b)
				}
				return bytes.Repeat(tag, sha256.Size/8)
			}),
		skeleton.NewSigner("tag-of-4-apart", "the tag is cut to 4 bytes and has a segment of its own", []codecs.Property{codecs.Integrity}, []string{"TAG-12"}, tagOf4Apart),
		skeleton.NewSigner("tag-of-1-if-short", "a payload of less than 8 bytes has a tag of a byte", []codecs.Property{codecs.Integrity}, []string{"TAG-12"}, tagOf1IfShort),
		made("tag-of-1", "the tag is a byte", []string{"TAG-03", "TAG-12"}, 1,
			func(key, message []byte) []byte { return skeleton.HMAC(key, message)[:1] }),
		made("gmac-one-nonce", "the tag is GMAC under a nonce that does not change", []string{"TAG-14"}, skeleton.GCMTag,
			func(key, message []byte) []byte {
				return skeleton.NewGCM(key).Seal(nil, make([]byte, skeleton.GCMNonce), nil, message)
			}),
		made("poly1305-one-key", "the tag is Poly1305 under a one-time key that does not change", []string{"TAG-14"}, chacha20poly1305.Overhead,
			func(key, message []byte) []byte {
				a, err := chacha20poly1305.New(key)
				if err != nil {
					panic("broken: " + err.Error()) // a derived key has a length that the cipher accepts
				}
				return a.Seal(nil, make([]byte, chacha20poly1305.NonceSize), nil, message)
			}),
		made("hash-of-key", "the tag is SHA-256(key || message)", []string{"TAG-06"}, sha256.Size,
			func(key, message []byte) []byte {
				return skeleton.Sum256(slices.Concat(key, message))
			}),
		made("sum-of-blocks", "the tag is the sum of the tags of the blocks", []string{"FRM-08"}, sha256.Size,
			func(key, message []byte) []byte {
				sum := make([]byte, sha256.Size)
				for block := range slices.Chunk(message, 64) {
					for i, b := range skeleton.HMAC(key, block) {
						sum[i] += b
					}
				}
				return sum
			}),
	}
}

// Checks returns controls that check a tag wrongly.
func Checks() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewSigner("checksum", "the tag is a checksum and needs no key", []codecs.Property{codecs.Integrity, codecs.Rotation}, []string{"KEY-15", "KEY-11"},
			func(p *skeleton.SignerParts) {
				p.MAC = func(_, message []byte) []byte {
					return bytes.Repeat(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(message)), 8)
				}
				p.Also = p.MAC
				p.Lookup = func(r *skeleton.Ring, _ []byte) *skeleton.Entry { return r.Entries[0] }
			}),
		skeleton.NewSigner("tag-of-text", "the tag is taken over the text of the payload, and what is no text is replaced", []codecs.Property{codecs.Integrity}, []string{"FRM-07"},
			func(p *skeleton.SignerParts) {
				p.Message = func(id, payload []byte) []byte {
					return slices.Concat([]byte(skeleton.SignerPrefix), id, bytes.ToValidUTF8(payload, []byte("\ufffd")))
				}
			}),
		skeleton.NewSigner("empty-unsigned", "the tag of the empty payload needs no key", []codecs.Property{codecs.Integrity, codecs.Rotation}, []string{"KEY-15"},
			func(p *skeleton.SignerParts) {
				p.MAC = func(key, message []byte) []byte {
					if len(message) == len(skeleton.SignerPrefix)+skeleton.IDSize {
						key = nil
					}
					return skeleton.HMAC(key, message)
				}
				p.Also = p.MAC
				p.OrElse(func(r *skeleton.Ring, _ []byte) *skeleton.Entry { return r.Entries[0] })
			}),
		skeleton.NewSigner("other-hash", "HMAC-SHA512 is taken as well, cut to length", []codecs.Property{codecs.Integrity}, []string{"TAG-11"},
			func(p *skeleton.SignerParts) {
				p.Derive = skeleton.RawKey
				p.Also = func(key, message []byte) []byte {
					m := hmac.New(sha512.New, key)
					m.Write(message)
					return m.Sum(nil)[:sha256.Size]
				}
			}),
		skeleton.NewSigner("early-exit", "the comparison ends at the first difference", []codecs.Property{codecs.SteadyTiming}, nil,
			func(p *skeleton.SignerParts) { p.Equal = bytes.Equal }),
		skeleton.NewSigner("left-behind", "the payload is copied before its tag is checked", []codecs.Property{codecs.Integrity}, []string{"TAG-09"},
			func(p *skeleton.SignerParts) {
				p.Release = func(dst, payload []byte) []byte { return append(dst, payload...)[:len(dst)] }
			}),
		skeleton.NewSigner("reason-place", "the reason of a refusal names the first byte that is wrong", []codecs.Property{codecs.UniformRefusal}, []string{"TAG-04"},
			func(p *skeleton.SignerParts) {
				p.Refuse = func(_ *skeleton.Entry, presented, right, _ []byte) error {
					at := 0
					for at < len(right) && presented[at] == right[at] {
						at++
					}
					return codecs.Reject(codecs.Unauthentic, fmt.Sprintf("the tag is wrong at %d", at))
				}
			}),
		skeleton.NewSigner("short-tag", "as many bytes of the tag are compared as came", []codecs.Property{codecs.Integrity}, []string{"TAG-01"}, shortTag),
	}
}

// sumOfDifferences reports whether the differences of the tags' bytes sum to zero.
func sumOfDifferences(presented, right []byte) bool {
	var sum byte
	for i := range presented {
		sum += presented[i] - right[i]
	}
	return sum == 0
}

// shortTag gives the tag its own segment and compares only as many bytes as were presented.
func shortTag(p *skeleton.SignerParts) {
	tagApart(p)
	p.Decode = func(text string) ([]byte, bool) {
		body, tag, ok := splitTag(text)
		if !ok || len(tag) > sha256.Size {
			return nil, false
		}
		return append(body, append(tag, make([]byte, sha256.Size-len(tag))...)...), true
	}
	p.Equal = func(presented, right []byte) bool {
		return bytes.HasPrefix(right, bytes.TrimRight(presented, "\x00"))
	}
}

// tagOf4Apart gives a tag of 4 bytes its own segment.
func tagOf4Apart(p *skeleton.SignerParts) {
	p.TagSize = 4
	p.MAC = func(key, message []byte) []byte { return skeleton.HMAC(key, message)[:4] }
	p.Also = p.MAC
	tagApart(p)
}

// tagApart gives the tag its own segment.
func tagApart(p *skeleton.SignerParts) {
	p.Encode = func(raw []byte) string {
		cut := len(raw) - p.TagSize
		return skeleton.JoinText(raw[:cut], raw[cut:])
	}
	p.Decode = func(text string) ([]byte, bool) {
		body, tag, ok := splitTag(text)
		return append(body, tag...), ok && len(tag) == p.TagSize
	}
}

// splitTag decodes a tag and what is in front of it.
func splitTag(text string) (body, tag []byte, ok bool) {
	head, tail, _ := strings.Cut(text, ".")
	body, okBody := skeleton.DecodeCanonical(head)
	tag, okTag := skeleton.DecodeCanonical(tail)
	return body, tag, okBody && okTag
}

// tagOf1IfShort cuts the tags of short payloads to one byte and restores the rest on reading.
func tagOf1IfShort(p *skeleton.SignerParts) {
	encode, decode := p.Encode, p.Decode
	p.Encode = func(raw []byte) string {
		if len(raw) < skeleton.IDSize+8+p.TagSize {
			raw = raw[:len(raw)-p.TagSize+1]
		}
		return encode(raw)
	}
	p.Decode = func(text string) ([]byte, bool) {
		raw, ok := decode(text)
		if ok && len(raw) > skeleton.IDSize && len(raw) < skeleton.IDSize+8+1 {
			raw = append(raw, make([]byte, p.TagSize-1)...)
		}
		return raw, ok
	}
	p.Equal = func(presented, right []byte) bool {
		cut := append([]byte{right[0]}, make([]byte, len(right)-1)...)
		return hmac.Equal(presented, right) || hmac.Equal(presented, cut)
	}
}
