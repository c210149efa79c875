// Package compressed has compressors by format, and zeros that they and others compress.
package compressed

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"maps"
	"slices"
)

// foreignSize is the number of zeros compressed in formats that the standard library does not
// write.
const foreignSize = 64 << 20

// lzmaZeros returns zeros as an LZMA file with a 13-byte header (the "alone" format). After
// some bytes the state of the coder becomes periodic.
func lzmaZeros() []byte {
	head := binary.LittleEndian.AppendUint64([]byte{0x5d, 0, 0, 0x80, 0}, foreignSize)
	return slices.Concat(head, lzmaBegins, bytes.Repeat(lzmaRound, 77))
}

// zstdZeros returns zeros as a frame of Zstandard (RFC 8878): blocks of 128 KiB that repeat one
// byte. The frame states its content size.
func zstdZeros() []byte {
	const block = 128 << 10
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x38}, foreignSize)
	for n := foreignSize / block; n > 0; n-- {
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

// foreignZeros holds 64 MiB of zeros in formats that the standard library does not write.
var foreignZeros = map[string][]byte{
	"bzip2": unhex("425a68393141592653590e09e2df015f8e4000c0000008200030804d4642a025a90a8097314159265359bc04b5c300a275c000c0000008200020a40836328a884d2a2a2138bb9229c2848500bb83e8"),
	"brotli": unhex("cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd1fffffffe09f0088c30200ddfb3ffeffffc13f0110870500baf77ffcffff837f0220" +
		"0e0b0074effff8ffff07ff04401c1600e8defff1ffff0ffe0980382c00d0bdffcbffff3ffc1300715800a07bff07"),
}

// unhex decodes a hexadecimal constant.
func unhex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic("compressed: " + err.Error())
	}
	return raw
}

// Compressors holds the compressors by format.
var Compressors = map[string]func(text []byte) []byte{
	"deflate": newCompressor(func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, flate.BestCompression); return z }),
	"zlib":    newCompressor(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
	"gzip":    newCompressor(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
}

func newCompressor(open func(io.Writer) io.WriteCloser) func(text []byte) []byte {
	return func(text []byte) []byte {
		var b bytes.Buffer
		w := open(&b)
		w.Write(text) //nolint:errcheck // a buffer takes all
		w.Close()     //nolint:errcheck // as above
		return b.Bytes()
	}
}

// Zeros compresses n zeros in every format that the standard library writes. The other
// formats hold 64 MiB of zeros.
func Zeros(n int) map[string][]byte {
	packed := maps.Clone(foreignZeros)
	packed["lzma"], packed["zstd"] = lzmaZeros(), zstdZeros()
	for name, pack := range Compressors {
		packed[name] = pack(make([]byte, n))
	}
	return packed
}
