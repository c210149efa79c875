package tokens

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublicKeysIn checks that one key is found in PEM, in a certificate and in a set of keys.
func TestPublicKeysIn(t *testing.T) {
	for _, p := range ownPairs() {
		c, err := x509.ParseCertificate(p.certificate)
		require.NoError(t, err)
		want := spellingsOf(c.PublicKey)
		set, err := json.Marshal(map[string]any{"keys": []any{p.public}})
		require.NoError(t, err)
		for _, text := range []string{string(set), string(want[0].Text), string(spellingsInPEM("CERTIFICATE", p.certificate)[2].Text)} {
			document, err := json.Marshal(map[string]any{"contents": []any{map[string]any{"text": "key:\n" + text}}})
			require.NoError(t, err)
			if text == string(set) {
				document = set
			}
			got := PublicKeysIn(string(document))
			for _, key := range want {
				require.True(t, slices.ContainsFunc(got, func(k PublicKey) bool { return string(k.Text) == string(key.Text) }), "%s of %s", key.Name, p.alg)
			}
		}
	}
	require.Empty(t, PublicKeysIn(`{"kty":"EC","x":"AA","y":"AA","n":[1]}`))
	require.Nil(t, spellingsOf(rsa.PublicKey{N: big.NewInt(1)}))
}
