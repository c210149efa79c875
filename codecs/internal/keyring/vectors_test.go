package keyring

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestRFC5869 runs the SHA-256 cases of RFC 5869, appendix A. Only the third
// has no salt, as Derive; the others test the primitive below it.
func TestRFC5869(t *testing.T) {
	counting := func(from, to int) (s string) {
		for b := from; b <= to; b++ {
			s += string([]byte{byte(b)})
		}
		return s
	}
	for i, c := range []struct{ secret, salt, label, key string }{
		{
			strings.Repeat("\x0b", 22), counting(0x00, 0x0c), counting(0xf0, 0xf9),
			"3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
		},
		{
			counting(0x00, 0x4f), counting(0x60, 0xaf), counting(0xb0, 0xff),
			"b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
		},
		{
			strings.Repeat("\x0b", 22), "", "",
			"8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
		},
	} {
		require.Equal(t, c.key, hex.EncodeToString(derive(t, []byte(c.secret), []byte(c.salt), c.label, len(c.key)/2)), "case %d", i+1)
	}
}

// derive calls HKDF if there is a salt, and Derive otherwise.
func derive(t *testing.T, secret, salt []byte, label string, n int) []byte {
	t.Helper()
	if len(salt) == 0 {
		return Derive(secret, label, n)
	}
	key, err := hkdf.Key(sha256.New, secret, salt, label, n)
	require.NoError(t, err)
	return key
}

func TestWycheproof(t *testing.T) {
	wycheproof.Run(t, "hkdf_sha256_test.json", func(_ *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		if c.Has("SizeTooLarge") {
			require.Panics(t, func() { Derive(c.IKM, string(c.Info), c.Size) })
			return wycheproof.Refused
		}
		if !bytes.Equal(derive(t, c.IKM, c.Salt, string(c.Info), c.Size), c.OKM) {
			return wycheproof.Differs
		}
		return wycheproof.Accepted
	})
}
