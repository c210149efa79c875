package mcprb

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/internal/base64url"
)

func TestFastPath(t *testing.T) {
	codectest.FastPath(t, func(t *testing.T, state []byte, c *codecs.Context) ([]byte, func([]byte) (fast, slow bool)) {
		s, err := newScheme(codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("k"), 32)}, Options: map[string]string{optionDigest: digestSDK}})
		require.NoError(t, err)
		minted, err := s.claims(new(base64url.Scratch), state, c)
		require.NoError(t, err)
		return minted, func(claims []byte) (fast, slow bool) {
			got, fast := s.accept(nil, new(base64url.Scratch), claims, c)
			v, refused := s.parse(claims)
			slow = refused == nil && s.check(&v, c) == nil
			if fast && slow {
				require.Equal(t, string(v.Lookup("s").Text), string(got))
			}
			return fast, slow
		}
	})
}
