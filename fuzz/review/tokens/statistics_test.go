package tokens_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review/tokens"
)

// TestSameStream encrypts two states that differ in their time, under one key stream and under two.
// It also compares plain states behind a digest.
func TestSameStream(t *testing.T) {
	under := func(nonce, text string) []byte {
		out := []byte(text)
		for i := range out {
			key := sha256.Sum256(fmt.Append(nil, nonce, i/32))
			out[i] ^= key[i%32]
		}
		return out
	}
	state := func(until int) string {
		return fmt.Sprintf(`{"step":"confirm","for":"%s","until":%d,"left":"nothing"}`, strings.Repeat("0123456789abcdef", 5), until)
	}
	digest := sha256.Sum256([]byte("call"))
	for name, x := range map[string]struct {
		one, two []byte
		want     bool
	}{
		"one key stream":            {under("a", state(1795164472)), under("a", state(1795164499)), true},
		"two key streams":           {under("a", state(1795164472)), under("b", state(1795164499)), false},
		"one text":                  {under("a", state(1795164472)), under("a", state(1795164472)), false},
		"in the open":               {append(digest[:], state(1795164472)...), append(digest[:], state(1795164499)...), false},
		"a time behind a kept blob": {append(under("a", strings.Repeat("b", 120)), "2026-11-26T07:53:56.123456Z"...), append(under("a", strings.Repeat("b", 120)), "2026-11-26T07:54:07.654321Z"...), false},
		"one within both":           {append(under("a", state(1795164472)), under("c", "of one")...), append(under("a", state(1795164472)), under("d", "of two")...), false},
	} {
		require.Equal(t, x.want, tokens.SameStream(x.one, x.two), name)
	}
}

// TestSegments splits tokens with a hexadecimal part behind a prefix.
func TestSegments(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 3)
	for token, want := range map[string][]string{
		"st_" + hex:             {"st_", hex},
		hex + "-" + hex:         {hex, "-", hex},
		"st_" + hex + ".QUJD":   {"st_", hex, ".", "QUJD"},
		"k1_" + hex[:20] + "_x": {"k1_" + hex[:20] + "_x"},
		hex:                     {hex},
	} {
		var got []string
		for _, s := range tokens.Segments(token) {
			got = append(got, s.Text)
		}
		require.Equal(t, want, got, token)
	}
}
