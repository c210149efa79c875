package aesgcm_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/aesgcm"
)

func TestRoundTrip(t *testing.T) {
	c := aesgcm.Ephemeral()
	for n := range 300 {
		payload := bytes.Repeat([]byte{byte(n)}, n)
		token, err := c.Seal([]byte("x"), payload)
		require.NoError(t, err)
		got, err := c.Unseal([]byte("y"), token[1:])
		require.NoError(t, err)
		require.Equal(t, append([]byte("y"), payload...), got)
	}
}
