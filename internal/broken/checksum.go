package broken

import (
	"bytes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
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
		aSealer("digest-behind", "AES-CTR over the payload and its SHA-256", breaks(codecs.Integrity), by("TAG-13"), summed(digest)),
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
