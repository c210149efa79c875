package planted_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/flawed/planted"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/xchacha"
	"sealab/internal/lab"
)

func TestBugsAreNamedOnce(t *testing.T) {
	names := map[string]bool{}
	for _, b := range planted.Bugs() {
		require.NotEmpty(t, b.Doc, b.Name)
		require.NotEmpty(t, b.Target, b.Name)
		require.False(t, names[b.Name], b.Name)
		names[b.Name] = true
	}
	require.GreaterOrEqual(t, len(names), 12)
}

// TestPlanted shows a bug that is chosen, and that without it there is none.
func TestPlanted(t *testing.T) {
	for name, found := range map[string]bool{"short-tag": true, "padding": false} {
		t.Setenv(planted.Env, name)
		designs := planted.In([]codecs.Design{hmacsha256.Design, xchacha.Design})
		require.Equal(t, found, takesAnotherTag(t, designs[0]), "with %s", name)
		require.False(t, takesAnotherTag(t, designs[1]), "with %s, in the other design", name)
	}
}

// takesAnotherTag reports whether a codec takes a token whose last character was
// changed.
func takesAnotherTag(t *testing.T, d codecs.Design) bool {
	t.Helper()
	c, err := lab.Open(d, codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("secret; "), 4)}})
	require.NoError(t, err)
	require.True(t, c.Seeded())
	token, err := c.SealSeeded(nil, make([]byte, c.SeedSize()), []byte("payload"), nil)
	require.NoError(t, err)
	got, err := c.Unseal(nil, token, nil)
	require.NoError(t, err)
	require.Equal(t, "payload", string(got))
	token[len(token)-1] ^= 1
	_, err = c.Unseal(nil, token, nil)
	return err == nil
}
