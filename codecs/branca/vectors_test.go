package branca

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"sealab/codecs"
	"sealab/internal/lab"
)

// TestVectors runs the vectors of the specification.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/test_vectors.json")
	require.NoError(t, err)
	var file struct {
		Count  int `json:"numberOfTests"`
		Groups []struct {
			Tests []struct {
				Comment, Key, Nonce, Token, Msg string
				Timestamp                       int64
				Valid                           bool `json:"isValid"`
			}
		} `json:"testGroups"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	unhex := func(text string) []byte {
		b, err := hex.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	seen := 0
	for _, group := range file.Groups {
		for _, v := range group.Tests {
			seen++
			aead, err := chacha20poly1305.NewX(unhex(v.Key))
			if err != nil {
				require.Equal(t, "Invalid key", v.Comment)
				continue
			}
			f, now := &format{aead: aead}, &codecs.Context{Now: time.Unix(v.Timestamp, 0)}
			if v.Nonce != "" {
				token, err := f.Mint(nil, unhex(v.Nonce), unhex(v.Msg), now, nil)
				require.NoError(t, err, v.Comment)
				require.Equal(t, v.Token, string(token), v.Comment)
			}
			state, err := f.Open(nil, []byte(v.Token), now)
			if !v.Valid {
				require.NotNil(t, codecs.Rejected(err), v.Comment)
				continue
			}
			require.NoError(t, err, v.Comment)
			require.Equal(t, v.Msg, hex.EncodeToString(state), v.Comment)
		}
	}
	require.Equal(t, file.Count, seen)
}

// TestLongest mints the longest state and checks that longer tokens are
// refused.
func TestLongest(t *testing.T) {
	in, err := lab.Open(Design, codecs.Config{Secrets: [][]byte{make([]byte, 32)}})
	require.NoError(t, err)
	now := &codecs.Context{Now: time.Unix(1<<32-1-600, 0)}
	state := make([]byte, maxState)
	token, err := in.Seal(nil, state, now)
	require.NoError(t, err)
	require.LessOrEqual(t, len(token), maxToken)
	got, err := in.Unseal(nil, token, now)
	require.NoError(t, err)
	require.Equal(t, state, got)
	_, err = in.Seal(nil, make([]byte, maxState+1), now)
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}
