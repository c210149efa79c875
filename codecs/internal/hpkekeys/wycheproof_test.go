package hpkekeys

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestWycheproof decapsulates every public key of the X25519 file as the
// designs do. It compares with the file's shared secret, after the KEM's
// derivation (RFC 9180, section 4.1) on the standard library's HKDF.
func TestWycheproof(t *testing.T) {
	wycheproof.Run(t, "x25519_test.json", func(_ *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		// The file omits the flag NonCanonicalPublic if the point also has low
		// order.
		foreign := c.Has("NonCanonicalPublic") || c.Has("ZeroSharedSecret") && !Canonical(c.Public)
		require.Equal(t, foreign, !Canonical(c.Public), "case %d", c.ID)
		private, err := scheme().UnmarshalBinaryPrivateKey(c.Private)
		require.NoError(t, err)
		got, err := scheme().Decapsulate(private, c.Public)
		require.Equal(t, c.Has("ZeroSharedSecret"), err != nil, "case %d: %v", c.ID, err)
		if err != nil {
			return wycheproof.Refused
		}
		recipient, err := private.Public().MarshalBinary()
		require.NoError(t, err)
		prk := labeledExtract(t, kemSuiteID, nil, "eae_prk", c.Shared)
		want := labeledExpand(t, kemSuiteID, prk, "shared_secret", append(bytes.Clone(c.Public), recipient...), 32)
		if !bytes.Equal(want, got) {
			return wycheproof.Differs
		}
		return wycheproof.Accepted
	})
}
