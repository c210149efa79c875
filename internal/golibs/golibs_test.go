package golibs_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/golibs"
)

// TestEveryPeerSealsAndRefuses checks that each library returns the sealed payload, and refuses tokens
// that were changed or sealed under another key.
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

// TestEveryPeerCarriesClaims mints with each library that carries claims. It then changes each claim of
// the context and expects a refusal.
func TestEveryPeerCarriesClaims(t *testing.T) {
	require.NotEmpty(t, golibs.Schemes())
	text := func(s string) *string { return &s }
	minted := codecs.Context{
		Now: time.Unix(1795132800, 0), Method: "tools/call", Target: "deploy", Arguments: []byte(`{"a":1}`), Principal: text("alice"), Audience: text("srv"),
	}
	for _, d := range golibs.Schemes() {
		t.Run(d.Name, func(t *testing.T) {
			s, err := d.NewScheme(codecs.Config{Secrets: [][]byte{secret(1)}})
			require.NoError(t, err)
			state := `{"step":1,"text":"a "b" é"}`
			token, err := s.Mint([]byte("x"), []byte(state), &minted)
			require.NoError(t, err)
			got, err := s.Verify([]byte("y"), token[1:], &minted)
			require.NoError(t, err)
			require.Equal(t, "y"+state, string(got))
			for name, change := range map[string]func(*codecs.Context){
				"expired":   func(c *codecs.Context) { c.Now = c.Now.Add(601 * time.Second) },
				"future":    func(c *codecs.Context) { c.Now = c.Now.Add(-2 * time.Minute) },
				"method":    func(c *codecs.Context) { c.Method = "prompts/get" },
				"target":    func(c *codecs.Context) { c.Target = "destroy" },
				"arguments": func(c *codecs.Context) { c.Arguments = []byte(`{"a":2}`) },
				"principal": func(c *codecs.Context) { c.Principal = text("mallory") },
				"audience":  func(c *codecs.Context) { c.Audience = text("other") },
			} {
				c := minted
				change(&c)
				_, err := s.Verify(nil, token[1:], &c)
				require.NotNil(t, codecs.Rejected(err), "%s: %v", name, err)
			}
			token[len(token)/2] ^= 1
			_, err = s.Verify(nil, token[1:], &minted)
			require.NotNil(t, codecs.Rejected(err))
		})
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
