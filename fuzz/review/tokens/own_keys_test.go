package tokens

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnPairs checks that there is a key pair for each algorithm, with a certificate that its key
// signed.
func TestOwnPairs(t *testing.T) {
	signatures := map[string]int{}
	for _, p := range ownPairs() {
		signatures[p.alg] = len(p.sign([]byte("text")))
		certificate, err := x509.ParseCertificate(p.certificate)
		require.NoError(t, err, p.alg)
		require.NoError(t, certificate.CheckSignature(certificate.SignatureAlgorithm, certificate.RawTBSCertificate, certificate.Signature), p.alg)
	}
	require.Equal(t, map[string]int{"EdDSA": 64, "ES256": 64, "RS256": 256}, signatures)
}
