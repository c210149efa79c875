package aessiv

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/wycheproof"
)

// TestWycheproof runs the cases with keys of 64 bytes. The examples of RFC 5297
// have shorter keys.
func TestWycheproof(t *testing.T) {
	tally := wycheproof.Run(t, "aes_siv_cmac_test.json", func(_ *wycheproof.Group, c *wycheproof.Case) wycheproof.Outcome {
		if len(c.Key) != keySize {
			return wycheproof.NotTested
		}
		a, err := newSIV(c.Key)
		require.NoError(t, err)
		if len(c.CT) < tagSize {
			return wycheproof.Refused
		}
		sealed := append(bytes.Clone(c.CT[tagSize:]), c.CT[:tagSize]...)
		payload, err := a.Open(nil, nil, sealed, c.AAD)
		switch {
		case err != nil:
			return wycheproof.Refused
		case !bytes.Equal(payload, c.Msg), !bytes.Equal(a.Seal(nil, nil, c.Msg, c.AAD), sealed):
			return wycheproof.Differs
		default:
			return wycheproof.Accepted
		}
	})
	require.Equal(t, 147, tally.Accepted+tally.Refused)
	require.NotZero(t, tally.Accepted)
}

// TestAccumulated compares 10,000 cases with the crate aes-siv 0.7.0.
func TestAccumulated(t *testing.T) {
	require.Equal(t, "ff8c43dd80069e1b107309f5b7faecc32e06c1363b83dbd28025c24daf7b4999",
		wycheproof.Accumulate(t, keySize, 10_000, newSIV))
}
