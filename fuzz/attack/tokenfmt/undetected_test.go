package tokenfmt

import (
	"bytes"
	"hash/adler32"
	"hash/crc32"
	"hash/crc64"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUndetectedChanges applies each change to random bytes. Every change must change the
// bytes, and each checksum must miss some change.
func TestUndetectedChanges(t *testing.T) {
	s := NewSource(1)
	sums := map[string]func([]byte) uint64{
		"CRC-32":      func(b []byte) uint64 { return uint64(crc32.ChecksumIEEE(b)) },
		"CRC-32C":     func(b []byte) uint64 { return uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))) },
		"CRC-64-ISO":  func(b []byte) uint64 { return crc64.Checksum(b, crc64.MakeTable(crc64.ISO)) },
		"CRC-64-ECMA": func(b []byte) uint64 { return crc64.Checksum(b, crc64.MakeTable(crc64.ECMA)) },
		"Fletcher and Adler": func(b []byte) uint64 {
			return uint64(adler32.Checksum(b))
		},
		"a hash with the factor 31": func(b []byte) (h uint64) {
			for _, c := range b {
				h = 31*h + uint64(c)
			}
			return h
		},
		"an XOR of words of 1 bytes": func(b []byte) (h uint64) {
			for _, c := range b {
				h ^= uint64(c)
			}
			return h
		},
	}
	unseen := map[string]bool{}
	for _, p := range undetectedChanges() {
		raw := s.Bytes(200)
		copy(raw[50:], bytes.Repeat([]byte{100}, 100))
		altered := bytes.Clone(raw)
		require.True(t, p.apply(altered[60:60+p.size]), p.sum)
		require.NotEqual(t, raw, altered, p.sum)
		if sum, ok := sums[p.sum]; ok && sum(raw) == sum(altered) {
			unseen[p.sum] = true
		}
	}
	for name := range sums {
		require.True(t, unseen[name], name)
	}
}
