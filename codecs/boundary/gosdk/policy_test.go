package gosdk_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs/aesgcm"
	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/mcppy"
)

func TestWrongPolicies(t *testing.T) {
	ring := [][]byte{secret(1)}
	scheme, err := claims.New(aesgcm.Ephemeral(), time.Minute)
	require.NoError(t, err)
	store, err := boundary.NewMemory(1, 1)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		policy boundary.Policy
		want   string
	}{
		"empty ring":          {boundary.Policy{Secrets: [][]byte{}}, "empty"},
		"short key":           {boundary.Policy{Secrets: [][]byte{[]byte("short")}}, "32"},
		"key twice":           {boundary.Policy{Secrets: [][]byte{secret(1), secret(1)}}, "same"},
		"ring and scheme":     {boundary.Policy{Secrets: ring, Scheme: scheme}, "one of the two"},
		"design and scheme":   {boundary.Policy{Design: &aesgcm.Design, Scheme: scheme}, "one of the two"},
		"zeros":               {boundary.Policy{Secrets: [][]byte{make([]byte, 32)}}, "one byte repeated"},
		"zeros, any design":   {boundary.Policy{Secrets: [][]byte{make([]byte, 32)}, Design: &mcppy.Design}, "one byte repeated"},
		"wrong option":        {boundary.Policy{Secrets: ring, Options: map[string]string{"a": "b"}}, "no option"},
		"negative TTL":        {boundary.Policy{Secrets: ring, TTL: -time.Second}, "TTL"},
		"negative limit":      {boundary.Policy{Secrets: ring, MaxToken: -1}, "limit"},
		"TTL beside a scheme": {boundary.Policy{Scheme: scheme, TTL: time.Minute}, "no effect"},
		"store without a TTL": {boundary.Policy{Scheme: scheme, Store: store}, "set TTL"},
	} {
		t.Run(name, func(t *testing.T) {
			impl := &mcp.Implementation{Name: service}
			_, err := gosdk.Protect(mcp.NewServer(impl, nil), impl, c.policy)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "boundary: ")
		})
	}
	_, err = boundary.New("", boundary.Policy{Secrets: ring})
	require.ErrorContains(t, err, "audience")
	_, err = boundary.NewMemory(0, 0)
	require.Error(t, err)
	_, err = boundary.NewMemory(1, 2)
	require.Error(t, err)
}

// TestCodecsAndSchemes runs the boundary with designs other than the default.
func TestCodecsAndSchemes(t *testing.T) {
	signed, err := hmacsha256.New(secret(1))
	require.NoError(t, err)
	scheme, err := claims.New(signed, time.Minute)
	require.NoError(t, err)
	for name, p := range map[string]boundary.Policy{
		"codec":  {Secrets: [][]byte{secret(1)}, Design: &hmacsha256.Design, TTL: time.Minute},
		"scheme": {Scheme: scheme},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, p)
			c := calls[0]
			c.token = b.mint(c)
			require.Contains(t, c.token, hmacsha256.Design.Prefix)
			_, err := b.call(c)
			require.NoError(t, err)
			b.now = b.now.Add(time.Minute)
			_, err = b.call(c)
			requireRefused(t, err)
		})
	}
}

func TestEphemeralKeysAreWarnedOf(t *testing.T) {
	var log bytes.Buffer
	p := boundary.Policy{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	_, err := boundary.New(service, p)
	require.NoError(t, err)
	require.Contains(t, log.String(), "level=WARN")
	require.Contains(t, log.String(), "die with the process")
	log.Reset()
	p.Secrets = [][]byte{secret(1)}
	_, err = boundary.New(service, p)
	require.NoError(t, err)
	require.Empty(t, log.String())
}

// TestKeysAreCopied changes the caller's ring after construction.
func TestKeysAreCopied(t *testing.T) {
	ring := [][]byte{secret(1)}
	b := newBench(t, boundary.Policy{Secrets: ring})
	clear(ring[0])
	c := calls[0]
	c.token = b.mint(c)
	_, err := newBench(t, boundary.Policy{Secrets: [][]byte{secret(1)}}).call(c)
	require.NoError(t, err)
}
