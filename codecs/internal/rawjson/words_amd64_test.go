//go:build !purego

package rawjson

import "testing"

// TestWithoutAVX512 runs the tests of blocks again with AVX2 if they ran with
// AVX-512.
func TestWithoutAVX512(t *testing.T) {
	if !hasAVX512 {
		return
	}
	hasAVX512 = false
	t.Cleanup(func() { hasAVX512 = true })
	t.Run("blocks", TestBlocksAsBytes)
	t.Run("runes", TestRunes)
	if !testing.Short() {
		t.Run("dense", TestDenseBlocksAsBytes)
		t.Run("escaped runes", TestEscapedRunes)
	}
}
