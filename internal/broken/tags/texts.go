package tags

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Texts returns controls with mistakes in the text that a tag covers.
func Texts() []skeleton.Control {
	signed := func(name, doc string, broken []codecs.Property, attack string, message func(id, payload []byte) []byte) skeleton.Control {
		return skeleton.NewSigner(name, doc, broken, []string{attack}, func(p *skeleton.SignerParts) { p.Message = message })
	}
	integrity := []codecs.Property{codecs.Integrity}
	return []skeleton.Control{
		signed("reparsed", "the tag covers the JSON value of the payload, and not its text", integrity, "FRM-13", func(id, payload []byte) []byte {
			var value any
			if json.Unmarshal(payload, &value) != nil {
				return slices.Concat(id, payload)
			}
			return slices.Concat(id, skeleton.InJSON(value))
		}),
		signed("normalized", "the tag covers the payload with the Kelvin sign and the Greek question mark replaced", integrity, "FRM-14", func(id, payload []byte) []byte {
			return slices.Concat(id, []byte(strings.NewReplacer("\u212a", "K", "\u037e", ";").Replace(string(payload))))
		}),
		signed("line-ends", "the tag covers the payload with other line ends", integrity, "FRM-14", func(id, payload []byte) []byte {
			return slices.Concat(id, bytes.ReplaceAll(payload, []byte("\r\n"), []byte("\n")))
		}),
		skeleton.NewSigner("zero-id", "a key ID of zeros stands for the first key, and is outside the tag", []codecs.Property{codecs.Integrity, codecs.Canonical}, []string{"FRM-12"}, func(p *skeleton.SignerParts) {
			p.Message = func(_, payload []byte) []byte { return slices.Concat([]byte(skeleton.SignerPrefix), payload) }
			found := p.Lookup
			p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
				if bytes.Equal(id, make([]byte, skeleton.IDSize)) {
					return r.Entries[0]
				}
				return found(r, id)
			}
		}),
		skeleton.NewSigner("zero-padded", "zeros at the end of a payload of whole blocks are cut off as padding", []codecs.Property{codecs.ByteExact}, []string{"PAY-08"}, func(p *skeleton.SignerParts) {
			p.Unpacked = func(carried []byte) []byte {
				if len(carried) > 0 && len(carried)%16 == 0 {
					return bytes.TrimRight(carried, "\x00")
				}
				return carried
			}
		}),
		skeleton.WithClaim(skeleton.NewSigner("hashed-key-id", "the key ID is a hash of the secret", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *skeleton.SignerParts) {
			p.Derive = func(secret []byte) (key, id []byte) {
				key, _ = skeleton.DeriveKey(secret)
				sum := sha256.Sum256(secret)
				return key, sum[:skeleton.IDSize]
			}
		}), codecs.PrivateKeys),
		skeleton.WithClaim(skeleton.NewSigner("thumbprint", "the key ID is the thumbprint of the secret as a JSON Web Key", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *skeleton.SignerParts) {
			p.Derive = func(secret []byte) (key, id []byte) {
				key, _ = skeleton.DeriveKey(secret)
				return key, skeleton.Sum256(fmt.Appendf(nil, `{"k":"%s","kty":"oct"}`, base64.RawURLEncoding.EncodeToString(secret)))[:skeleton.IDSize]
			}
		}), codecs.PrivateKeys),
		skeleton.WithClaim(skeleton.NewSigner("short-key-id", "the key ID, a segment of its own, is the CRC-32 of the secret", []codecs.Property{codecs.PrivateKeys}, []string{"KEY-17"}, func(p *skeleton.SignerParts) {
			p.Derive = func(secret []byte) (key, id []byte) {
				key, _ = skeleton.DeriveKey(secret)
				return key, binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(secret))
			}
			p.Encode = func(raw []byte) string { return skeleton.JoinText(raw[:skeleton.IDSize], raw[skeleton.IDSize:]) }
			p.Decode = func(text string) ([]byte, bool) {
				parts, err := skeleton.SplitText(text, 2)
				return slices.Concat(parts...), err == nil && len(parts[0]) == skeleton.IDSize
			}
		}), codecs.PrivateKeys),
	}
}
