package tokens_test

import (
	"crypto/sha256"
	"encoding/base64"
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

func TestTagLength(t *testing.T) {
	body, tag := `{"step":"confirm","user":"alice"}`, strings.Repeat("\x91\x02", 16)
	url := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for token, want := range map[string]int{
		url(body + tag):             32,
		url(tag + body):             32,
		url("\x01key1" + body):      0,
		url("\x01" + body + tag):    32,
		url(body) + "." + url(tag):  32,
		url(tag) + "." + url(body):  32,
		"v1." + url(body) + ".beef": 2,
	} {
		n, ok := tokens.TagLength(token)
		require.True(t, ok, token)
		require.Equal(t, want, n, token)
	}
	_, ok := tokens.TagLength(url(tag + tag))
	require.False(t, ok)
}
