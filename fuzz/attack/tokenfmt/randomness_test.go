package tokenfmt_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack/tokenfmt"
)

// TestRandomness checks that the tests reject weak generators and accept random bytes.
func TestRandomness(t *testing.T) {
	for name, c := range map[string]struct {
		nonce func(s *tokenfmt.Source, n int, last []byte) []byte
		weak  bool
	}{
		"random":     {func(s *tokenfmt.Source, _ int, _ []byte) []byte { return s.Bytes(12) }, false},
		"biased bit": {func(s *tokenfmt.Source, _ int, _ []byte) []byte { b := s.Bytes(12); b[3] |= b[4] & 1; return b }, true},
		"decimal digits": {func(s *tokenfmt.Source, _ int, _ []byte) []byte {
			b := s.Bytes(12)
			for i := range b {
				b[i] = b[i]%200 + 20
			}
			return b
		}, true},
		"16 random bits": {func(s *tokenfmt.Source, _ int, _ []byte) []byte {
			k := tokenfmt.NewSource(uint64(s.IntN(1 << 16)))
			return k.Bytes(12)
		}, true},
		"a linear counter": {func(_ *tokenfmt.Source, n int, _ []byte) []byte {
			return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(n)*0x9e3779b97f4a7c15), uint32(n)*0x9e3779b9)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				s := tokenfmt.NewSource(seed)
				var raws [][]byte
				var last []byte
				for n := range 5000 {
					last = c.nonce(s, n, last)
					raws = append(raws, append([]byte("id: "), last...))
				}
				r, ok := tokenfmt.Randomness(raws)
				require.True(t, ok)
				require.Equal(t, 4, r.From)
				require.Equal(t, c.weak, r.Failed() != "", "%v: %s", r, r.Failed())
			}
		})
	}
	_, ok := tokenfmt.Randomness(make([][]byte, 10))
	require.False(t, ok)
}
