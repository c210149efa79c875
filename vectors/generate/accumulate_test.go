package generate_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
	"sealab/vectors/generate"
)

// TestDigestSeesTheLastInput is the control: one more token, or one different answer, changes the digest.
func TestDigestSeesTheLastInput(t *testing.T) {
	d := catalog.Formats()[0]
	secret := make([]byte, codecs.MinSecret)
	secret[0] = 1
	want, err := generate.Accumulate(d, secret, 100)
	require.NoError(t, err)
	require.Len(t, want, 1)
	again, err := generate.Accumulate(d, secret, 100)
	require.NoError(t, err)
	require.Equal(t, want, again)

	unsealed := 0
	sound := d.NewCodec
	d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
		codec, err := sound(c)
		return &slip{codec.(lab.Seeded), &unsealed}, err
	}
	got, err := generate.Accumulate(d, secret, 100)
	require.NoError(t, err)
	require.NotEqual(t, want, got)
}

// slip wrongly accepts its 200th token, the last one that 100 inputs unseal.
type slip struct {
	lab.Seeded
	unsealed *int
}

func (c *slip) Unseal(dst, token []byte) ([]byte, error) {
	if *c.unsealed++; *c.unsealed == 200 {
		return dst, nil
	}
	return c.Seeded.Unseal(dst, token)
}

func TestRenewKeepsWhatStillHolds(t *testing.T) {
	f := generate.DigestFile{"d": {100: "a", 10_000: "b", 1_000_000: "c"}}
	f.Renew("d", generate.Digests{100: "a", 10_000: "b"})
	require.Equal(t, generate.Digests{100: "a", 10_000: "b", 1_000_000: "c"}, f["d"])
	f.Renew("d", generate.Digests{100: "x"})
	require.Equal(t, generate.Digests{100: "x"}, f["d"])
	require.Empty(t, f.Differs("d", generate.Digests{100: "x"}))
	require.NotEmpty(t, f.Differs("d", generate.Digests{100: "y"}))
	require.NotEmpty(t, f.Differs("d", generate.Digests{100: "x", 10_000: "b"}))

	path := filepath.Join(t.TempDir(), "digests.json")
	require.NoError(t, f.Write(path))
	got, err := generate.ReadDigests(path)
	require.NoError(t, err)
	require.Equal(t, f, got)
	none, err := generate.ReadDigests(path + ".none")
	require.NoError(t, err)
	require.Empty(t, none)
}
