package mcpd

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLowerHex(t *testing.T) {
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	require.Equal(t, hex.EncodeToString(all), string(appendLowerHex(nil, all)))
	require.Empty(t, appendLowerHex(nil, nil))
}
