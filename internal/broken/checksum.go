package broken

import (
	"bytes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
	"hash/fnv"
	"slices"

	"sealab/codecs"
	"sealab/internal/lab"
)

// checksums are encrypted codecs with a checksum in the place of a tag.
func checksums() []Control {
	crc := func(payload []byte) []byte { return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(payload)) }
	digest := func(payload []byte) []byte { d := sha256.Sum256(payload); return d[:] }
	return []Control{
		aSealer("crc-inside", "AES-CTR over the payload and its CRC-32", breaks(codecs.Integrity), by("TAG-13"), summed(crc)),
		aSigner("keyed-fnv", "the tag is FNV-1a over the key and the message", breaks(codecs.Integrity), by("TAG-13", "TAG-12"), running(4, func(message []byte) []byte {
			h := fnv.New32a()
			h.Write(message)
			return h.Sum(nil)
		})),
		aSigner("keyed-crc", "the tag is CRC-64 over the key and the message", breaks(codecs.Integrity), by("TAG-13"), running(8, func(message []byte) []byte {
			return binary.LittleEndian.AppendUint64(nil, crc64.Checksum(message, crc64.MakeTable(crc64.ISO)))
		})),
		aSealer("digest-behind", "AES-CTR over the payload and its SHA-256", breaks(codecs.Integrity), by("TAG-13"), summed(digest)),
	}
}

// running makes the tag a hash over the key and the message.
func running(size int, hash func([]byte) []byte) func(*signerParts) {
	return func(p *signerParts) {
		p.tagSize = size
		p.mac = func(key, message []byte) []byte { return hash(slices.Concat(key, message)) }
		p.also = p.mac
	}
}

// summed makes the skeleton use AES-CTR over the payload and a sum of it.
func summed(sum func(payload []byte) []byte) func(*sealerParts) {
	return func(p *sealerParts) {
		p.nonceSize = 16
		p.nonce = func(uint64, []byte, []byte) []byte {
			iv := make([]byte, 16)
			lab.Random(iv)
			return iv
		}
		ctr := func(key, iv, text []byte) []byte {
			out := make([]byte, len(text))
			cipher.NewCTR(block(key), iv).XORKeyStream(out, text)
			return out
		}
		p.seal = func(key, iv, text, _ []byte) []byte { return ctr(key, iv, slices.Concat(text, sum(text))) }
		p.open = func(key, iv, sealed, _ []byte) ([]byte, error) {
			text := ctr(key, iv, sealed)
			n := len(text) - len(sum(nil))
			if n < 0 || !bytes.Equal(sum(text[:n]), text[n:]) {
				return nil, errUnauthentic
			}
			return text[:n], nil
		}
	}
}
