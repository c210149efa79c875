package mcpts

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/internal/base64url"
	"sealab/codecs/internal/framework"
)

func TestFastPath(t *testing.T) {
	codectest.FastPath(t, func(t *testing.T, state []byte, c *codecs.Context) ([]byte, func([]byte) (fast, slow bool)) {
		s, err := newScheme(codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("k"), 32)}, Options: map[string]string{optionBind: bindRequest, framework.OptionPayload: framework.PayloadText}})
		require.NoError(t, err)
		minted, err := s.claims(new(base64url.Scratch), state, c, nil)
		require.NoError(t, err)
		return minted, func(claims []byte) (fast, slow bool) {
			work := new(base64url.Scratch)
			fast = s.accept(work, claims, c)
			v, refused := s.parse(claims)
			slow = refused == nil && s.check(&v, c) == nil
			if fast && slow {
				require.Equal(t, string(v.Lookup("p").Text), string(work.Bytes))
			}
			return fast, slow
		}
	})
}
