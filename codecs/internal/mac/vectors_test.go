package mac_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/mac"
	"sealab/internal/wycheproof"
)

// TestRFC4231 runs the HMAC-SHA-256 cases of RFC 4231, section 4.
func TestRFC4231(t *testing.T) {
	for i, c := range []struct{ key, data, tag string }{
		{
			strings.Repeat("\x0b", 20), "Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
		},
		{
			"Jefe", "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		},
		{
			strings.Repeat("\xaa", 20), strings.Repeat("\xdd", 50),
			"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
		},
		{
			"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19", strings.Repeat("\xcd", 50),
			"82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
		},
		{
			strings.Repeat("\x0c", 20), "Test With Truncation",
			"a3b6167473100ee06e0c796c2955552b", // the first 128 bits
		},
		{
			strings.Repeat("\xaa", 131), "Test Using Larger Than Block-Size Key - Hash Key First",
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
		},
		{
			strings.Repeat("\xaa", 131), "This is a test using a larger than block-size key and a larger than block-size data. " +
				"The key needs to be hashed before being used by the HMAC algorithm.",
			"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
		},
	} {
		tag := mac.New([]byte(c.key)).Append(nil, []byte(c.data))
		require.Equal(t, c.tag, hex.EncodeToString(tag)[:len(c.tag)], "case %d", i+1)
	}
}

func TestWycheproof(t *testing.T) {
	wycheproof.Run(t, "hmac_sha256_test.json", func(g *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		// Designs pass a message in two parts, so split it somewhere.
		cut := len(c.Msg) / 3
		tag := mac.New(c.Key).Append(nil, c.Msg[:cut], c.Msg[cut:])
		require.Len(t, tag, mac.Size)
		if !bytes.Equal(tag[:g.TagSize/8], c.Tag) {
			return wycheproof.Refused
		}
		return wycheproof.Accepted
	})
}
