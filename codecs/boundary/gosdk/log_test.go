package gosdk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/boundary"
	"sealab/codecs/claims"
	"sealab/codecs/mcppy"
)

// TestLogIsLimited refuses many tokens within a minute, and one later. The line
// of the later one tells how many were omitted.
func TestLogIsLimited(t *testing.T) {
	b := newBench(t, boundary.Policy{})
	c := calls[0]
	c.token = "garbage"
	for range 1000 {
		_, err := b.call(c)
		requireRefused(t, err)
	}
	require.Equal(t, boundary.LogsPerMinute, strings.Count(b.log.String(), "requestState refused"))
	// Each cause has its own limit.
	expired := calls[0]
	expired.token = b.mint(expired)
	b.now = b.now.Add(boundary.DefaultTTL)
	b.log.Reset()
	_, err := b.call(expired)
	requireRefused(t, err)
	require.Contains(t, b.log.String(), `"stage":"expired"`)
	_, err = b.call(c)
	requireRefused(t, err)
	require.Contains(t, b.log.String(), `"omitted":980`)
}

// talking is a scheme that puts the token into its reason, as a scheme in
// another process may do.
type talking struct{}

func (talking) Mint(dst, state []byte, _ *codecs.Context) ([]byte, error) {
	return append(dst, state...), nil
}

func (talking) Verify(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	return dst, codecs.Reject(codecs.Unauthentic, "of "+string(token))
}

func TestReasonsOfForeignSchemesAreNotLogged(t *testing.T) {
	design := codecs.Design{Name: "talking", NewScheme: func(codecs.Config) (codecs.Scheme, error) { return talking{}, nil }}
	for _, policy := range []boundary.Policy{{Scheme: talking{}}, {Design: &design}} {
		b := newBench(t, policy)
		c := calls[0]
		c.token = "secret-token"
		_, err := b.call(c)
		requireRefused(t, err)
		require.Contains(t, b.log.String(), `"stage":"unauthentic"`)
		require.NotContains(t, b.log.String(), "secret-")
	}
}

// TestSecretsServeOtherDesignsToo forges claims with the boundary's own codec
// under the same secret. They are refused because the derived keys differ.
func TestSecretsServeOtherDesignsToo(t *testing.T) {
	for _, forged := range forgeries(t, secret(1), noon.Add(-time.Minute)) {
		b := newBench(t, boundary.Policy{Secrets: [][]byte{secret(1)}})
		c := calls[0]
		c.arguments = ""
		c.token = forged
		_, err := b.call(c)
		requireRefused(t, err)
		require.Empty(t, b.seen)
	}
}

// forgeries returns tokens of the codec, of its claims and of the Python SDK's
// format under secret. They fit the first of calls without arguments.
func forgeries(t *testing.T, secret []byte, now time.Time) (tokens []string) {
	t.Helper()
	audience := service
	c := &codecs.Context{Now: now, Method: calls[0].method, Target: calls[0].target, Audience: &audience}
	for _, scheme := range forgers(t, secret) {
		token, err := scheme.Mint(nil, []byte("forged"), c)
		require.NoError(t, err)
		state, err := scheme.Verify(nil, token, c)
		require.NoError(t, err)
		require.Equal(t, "forged", string(state))
		tokens = append(tokens, string(token))
	}
	return tokens
}

// forgers returns schemes that a program may use beside the boundary under its
// own secret.
func forgers(t *testing.T, secret []byte) []codecs.Scheme {
	t.Helper()
	codec, err := aesgcm.New(secret)
	require.NoError(t, err)
	bare, err := claims.New(codec, time.Hour)
	require.NoError(t, err)
	python, err := mcppy.New(time.Hour, secret)
	require.NoError(t, err)
	row := claims.Over(aesgcm.Design)
	separated, err := row.OpenScheme(codecs.Config{Secrets: [][]byte{secret}})
	require.NoError(t, err)
	return []codecs.Scheme{bare, python, separated}
}
