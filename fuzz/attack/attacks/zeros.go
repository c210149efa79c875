package attacks

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// foreignZero is the number of zeros compressed in formats that the standard library does not
// write.
const foreignZero = 64 << 20

// lzmaZeros returns zeros as an LZMA file with a 13-byte header (the "alone" format). After
// some bytes the state of the coder becomes periodic.
func lzmaZeros() []byte {
	head := binary.LittleEndian.AppendUint64([]byte{0x5d, 0, 0, 0x80, 0}, foreignZero)
	return slices.Concat(head, lzmaBegins, bytes.Repeat(lzmaRound, 77))
}

// zstdZeros returns zeros as a frame of Zstandard (RFC 8878): blocks of 128 KiB that repeat one
// byte. The frame states its content size.
func zstdZeros() []byte {
	const block = 128 << 10
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x38}, foreignZero)
	for n := foreignZero / block; n > 0; n-- {
		header := uint32(block)<<3 | 1<<1
		if n == 1 {
			header |= 1 // the last block
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return frame
}

// The bytes that follow the LZMA header, and those of one period.
var (
	lzmaBegins = unhex("00006ffdffffa3b7ff473e481572396151b89228e6a38607f9eee41e82d32fc53a3c014bb17ec98a8a4d2fa30dd97fa6e38c231153e05918c5758ae2" +
		"77f8b6947f0c6ac0de744964e2e95c53b204d8f7440cab5f0d6d46e9e5c37688b79657acb64de1691d6ffb4b88106c42cb883f5c008fd04eaf262894" +
		"711f3d8f24e1709ea7235fec28cb85d195988a7e2a91f22775f719c006984d98fdd8afd5900f")
	lzmaRound = unhex("c42553f8f591363105a5b0ee6fc1704d470cd19111aaad601dbaceb127185c5986e9665258bee976ac59e4e55b0508f9c7daadfcfb522b74cd1e5b20" +
		"42f9dd533df82964093b80cb2a6cdfb53bf0c4bd2e5faa0f3e4b664290130eff1093f8717859f80bcdff9528460fa9fc7cdefb9a302e56c08f85f383" +
		"81c065")
)
