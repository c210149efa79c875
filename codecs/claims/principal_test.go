package claims_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
)

// TestReadableClaimsShowPrincipals reads the salted digest of a context from a
// token that is not encrypted, and tests guesses of the principal without a
// key.
func TestReadableClaimsShowPrincipals(t *testing.T) {
	scheme, err := claims.New(hmacsha256.Ephemeral(), time.Minute)
	require.NoError(t, err)
	for _, principal := range []string{"alice", "mallory"} {
		token, err := scheme.Mint(nil, []byte(`"state"`), &codecs.Context{Now: time.Unix(1_795_132_800, 0), Principal: &principal})
		require.NoError(t, err)
		_, text, ok := bytes.Cut(token, []byte("."))
		require.True(t, ok)
		raw, err := base64.RawURLEncoding.DecodeString(string(text))
		require.NoError(t, err)
		const keyID, beforeSalt, saltSize = 4, 17, 16
		salt, digest := raw[keyID+beforeSalt:][:saltSize], raw[keyID+beforeSalt+saltSize:][:16]
		var found []string
		for _, guess := range []string{"", "Alice", "alice", "bob", "mallory"} {
			sum := sha256.Sum256([]byte("sealab/claims/v2" + string(salt) + "\x04\x00\x00" + string(byte(len(guess))) + guess))
			if bytes.HasPrefix(sum[:], digest) {
				found = append(found, guess)
			}
		}
		require.Equal(t, []string{principal}, found)
	}
}
