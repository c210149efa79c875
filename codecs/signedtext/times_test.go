package signedtext_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/signedtext"
)

// TestLastSecond mints in the last second of Python's datetime, and after it.
func TestLastSecond(t *testing.T) {
	const last = 253402300799
	config := codecs.Config{Secrets: [][]byte{[]byte("a secret of 32 bytes for the test")}}
	for _, reading := range []string{"strict", "sdk"} {
		config.Options = map[string]string{"reading": reading}
		scheme, err := signedtext.Itsdangerous.OpenScheme(config)
		require.NoError(t, err)
		_, err = scheme.Mint(nil, []byte("state"), &codecs.Context{Now: time.Unix(last, 0)})
		require.NoError(t, err)
		_, err = scheme.Mint(nil, []byte("state"), &codecs.Context{Now: time.Unix(last+1, 0)})
		if reading == "sdk" {
			require.NoError(t, err, "the library mints what it does not read")
			continue
		}
		require.ErrorIs(t, err, codecs.ErrUnsupported)
	}
}
