package mcpd

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
		s, err := newScheme(codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("k"), 32)}, Options: map[string]string{optionBind: bindTool}})
		require.NoError(t, err)
		bind := s.appendBindTag(nil, c)
		minted := (&claims{state: state, bind: bind, expires: c.Now.Unix()}).append(nil)
		return minted, func(text []byte) (fast, slow bool) {
			got, fast := accept(&base64url.Scratch{Bytes: bytes.Clone(bind)}, text, c.Now.Unix())
			claims, refused := s.parse(text)
			slow = refused == nil && claims.check(bind, c.Now) == nil
			if fast && slow {
				require.Equal(t, string(claims.state), string(got))
			}
			return fast, slow
		}
	})
}
