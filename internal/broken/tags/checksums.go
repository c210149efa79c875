package tags

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"slices"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Checksums returns encrypted codecs with a checksum in place of a tag.
func Checksums() []skeleton.Control {
	crc := func(payload []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(payload)) }
	return []skeleton.Control{
		skeleton.NewSealer("crc-inside", "AES-CTR over the payload and its CRC-32", []codecs.Property{codecs.Integrity}, []string{"TAG-13"}, checksumCipher(crc)),
		skeleton.NewSigner("keyed-fnv", "the tag is FNV-1a over the key and the message", []codecs.Property{codecs.Integrity}, []string{"TAG-13", "TAG-12"}, keyedHash(4, func(message []byte) []byte {
			h := fnv.New32a()
			h.Write(message)
			return h.Sum(nil)
		})),
		skeleton.NewSigner("keyed-crc", "the tag is CRC-64 over the key and the message", []codecs.Property{codecs.Integrity}, []string{"TAG-13"}, keyedHash(8, func(message []byte) []byte {
			return binary.LittleEndian.AppendUint64(nil, crc64.Checksum(message, crc64.MakeTable(crc64.ISO)))
		})),
		skeleton.NewSealer("digest-behind", "AES-CTR over the payload and its SHA-256", []codecs.Property{codecs.Integrity}, []string{"TAG-13"}, checksumCipher(skeleton.Sum256)),
	}
}

// keyedHash makes the tag a hash of the key and the message.
func keyedHash(size int, hash func([]byte) []byte) func(*skeleton.SignerParts) {
	return func(p *skeleton.SignerParts) {
		p.TagSize = size
		p.MAC = func(key, message []byte) []byte { return hash(slices.Concat(key, message)) }
		p.Also = p.MAC
	}
}

// checksumCipher replaces the cipher by AES-CTR over the payload and its checksum.
func checksumCipher(sum func(payload []byte) []byte) func(*skeleton.SealerParts) {
	return func(p *skeleton.SealerParts) {
		p.NonceSize = 16
		p.Nonce = func(uint64, []byte, []byte) []byte { return skeleton.RandomBytes(16) }
		p.Encrypt = func(key, iv, text, _ []byte) []byte {
			return skeleton.CryptCTR(key, iv, slices.Concat(text, sum(text)))
		}
		p.Decrypt = func(key, iv, sealed, _ []byte) ([]byte, error) {
			text := skeleton.CryptCTR(key, iv, sealed)
			n := len(text) - len(sum(nil))
			if n < 0 || !bytes.Equal(sum(text[:n]), text[n:]) {
				return nil, skeleton.ErrUnauthentic
			}
			return text[:n], nil
		}
	}
}
