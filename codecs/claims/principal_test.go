package claims_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
)

// TestReadableClaimsShowPrincipals reads the salted digest of a principal in a token
// that is not encrypted, and tests guesses without a key.
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
		const keyID, tag = 4, sha256.Size
		var read struct{ P string }
		require.NoError(t, json.NewDecoder(bytes.NewReader(raw[keyID:len(raw)-tag])).Decode(&read))
		claim, err := base64.RawURLEncoding.DecodeString(read.P)
		require.NoError(t, err)
		var found []string
		for _, guess := range []string{"", "Alice", "alice", "bob", "mallory"} {
			digest := sha256.Sum256(append(append([]byte("mcp/request-state/principal:"), claim[:8]...), guess...))
			if bytes.HasPrefix(digest[:], claim[8:]) {
				found = append(found, guess)
			}
		}
		require.Equal(t, []string{principal}, found)
	}
}
