package loopback_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/loopback"
)

func TestCheck(t *testing.T) {
	for _, address := range []string{"127.0.0.1:7070", "[::1]:7070", "localhost:0"} {
		require.NoError(t, loopback.Check(address), address)
	}
	for _, address := range []string{":7070", "0.0.0.0:7070", "192.0.2.1:7070", "example.com:7070"} {
		require.ErrorContains(t, loopback.Check(address), "not authenticated", address)
	}
	require.ErrorContains(t, loopback.Check("127.0.0.1"), "want an address")
}
