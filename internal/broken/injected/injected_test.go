package injected_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/xchacha"
	"sealab/internal/broken/injected"
	"sealab/internal/lab"
)

func TestBugsHaveUniqueNames(t *testing.T) {
	names := map[string]bool{injected.All: true}
	for _, b := range injected.Bugs() {
		require.NotEmpty(t, b.Doc, b.Name)
		require.NotEmpty(t, b.Target, b.Name)
		require.False(t, names[b.Name], b.Name)
		names[b.Name] = true
	}
}

// TestChange checks that a bug is injected only into the designs to which it applies.
func TestChange(t *testing.T) {
	for names, found := range map[string]bool{"short-tag": true, "padding,short-tag": true, "padding": false, "": false} {
		change, err := injected.Change(names)
		require.NoError(t, err)
		require.Equal(t, found, takesAnotherTag(t, change(hmacsha256.Design)), "with %q", names)
		require.False(t, takesAnotherTag(t, change(xchacha.Design)), "with %q, in another design", names)
	}
	_, err := injected.Change("short-tag,none")
	require.ErrorContains(t, err, `no injected bug "none"`)
}

// takesAnotherTag reports whether a codec accepts a token with another last
// character.
func takesAnotherTag(t *testing.T, d codecs.Design) bool {
	t.Helper()
	in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("secret; "), 4)}})
	require.NoError(t, err)
	token, err := in.SealSeeded(nil, make([]byte, in.SeedSize()), []byte("payload"), nil)
	require.NoError(t, err)
	got, err := in.Unseal(nil, token, nil)
	require.NoError(t, err)
	require.Equal(t, "payload", string(got))
	token[len(token)-1] ^= 1
	_, err = in.Unseal(nil, token, nil)
	return err == nil
}
