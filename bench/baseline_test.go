package bench

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

// TestBaselinesSeal checks that each baseline unseals its tokens. A baseline with a primitive must refuse
// a changed token.
func TestBaselinesSeal(t *testing.T) {
	key, err := baselineKey()
	require.NoError(t, err)
	for _, f := range allBaselines() {
		t.Run(f.Name, func(t *testing.T) {
			c, err := f.Open(key)
			require.NoError(t, err)
			for _, n := range []int{0, 1, 64, 8192} {
				payload := bytes.Repeat([]byte("p"), n)
				token, err := c.Seal([]byte("x"), payload)
				require.NoError(t, err)
				got, err := c.Unseal([]byte("y"), token[1:])
				require.NoError(t, err)
				require.Equal(t, append([]byte("y"), payload...), got)
				if f.Primitive == "" {
					continue
				}
				require.Less(t, n, len(token))
				token[len(token)/2] ^= 1
				_, err = c.Unseal(nil, token[1:])
				require.NotNil(t, codecs.Rejected(err))
			}
		})
	}
}

func TestBaselinesDoNotAllocate(t *testing.T) {
	key, err := baselineKey()
	require.NoError(t, err)
	payload := bytes.Repeat([]byte("p"), 1024)
	dst := make([]byte, 0, 8192)
	allocates := map[string]bool{}
	for _, d := range catalog.All() {
		allocates["baseline-"+d.Name] = lab.HooksOf(d).Allocates != ""
	}
	for _, f := range allBaselines() {
		c, err := f.Open(key)
		require.NoError(t, err)
		token, err := c.Seal(nil, payload)
		require.NoError(t, err)
		allocs := testing.AllocsPerRun(100, func() {
			c.Seal(dst, payload)
			c.Unseal(dst, token)
		})
		if allocates[f.Name] || f.Primitive == "ML-DSA-44" || f.Primitive == "Ed25519" {
			require.NotZero(t, allocs, "%s no longer allocates: hold it to that", f.Name)
			continue
		}
		require.Zero(t, allocs, f.Name)
	}
}
