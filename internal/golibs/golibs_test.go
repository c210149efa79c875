package golibs_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/golibs"
)

// TestEveryPeerSealsAndRefuses runs each adapter against its library: what it
// sealed comes back, what was changed or sealed under another key does not.
func TestEveryPeerSealsAndRefuses(t *testing.T) {
	require.NotEmpty(t, golibs.All())
	for _, d := range golibs.All() {
		t.Run(d.Name, func(t *testing.T) {
			ours, theirs := open(t, d, 1), open(t, d, 2)
			for _, payload := range []string{"", "a", `{"step":1}`, string(bytes.Repeat([]byte("state "), 4000))} {
				given := []byte(payload)
				token, err := ours.Seal([]byte("x"), given)
				require.Equal(t, payload, string(given), "the argument was changed")
				if errors.Is(err, codecs.ErrUnsupported) {
					require.Empty(t, payload)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, byte('x'), token[0])
				token = token[1:]

				got, err := ours.Unseal([]byte("y"), token)
				require.NoError(t, err)
				require.Equal(t, "y"+payload, string(got))

				requireRefused(t, theirs, token)
				altered := bytes.Clone(token)
				altered[len(altered)/2] ^= 1
				requireRefused(t, ours, altered)
				requireRefused(t, ours, []byte("garbage"))
			}
		})
	}
}

func TestPeersTakeOneStrongSecret(t *testing.T) {
	for _, d := range golibs.All() {
		for _, secrets := range [][][]byte{nil, {secret(1), secret(2)}, {secret(1)[:31]}} {
			_, err := d.NewCodec(codecs.Config{Secrets: secrets})
			require.Error(t, err, "%s with %d secrets", d.Name, len(secrets))
		}
	}
}

func open(t *testing.T, d codecs.Design, fill byte) codecs.Codec {
	t.Helper()
	c, err := d.NewCodec(codecs.Config{Secrets: [][]byte{secret(fill)}})
	require.NoError(t, err)
	return c
}

func secret(fill byte) []byte {
	s := bytes.Repeat([]byte{fill}, codecs.MinSecret)
	s[0]++
	return s
}

func requireRefused(t *testing.T, c codecs.Codec, token []byte) {
	t.Helper()
	got, err := c.Unseal([]byte("z"), token)
	require.NotNil(t, codecs.Rejected(err), "got %v for %.40q", err, token)
	require.Equal(t, "z", string(got))
}
