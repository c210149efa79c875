package keyfile

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret has bytes whose base64 differs between the two alphabets, and a length
// that needs padding.
var secret = bytes.Repeat([]byte{0xff, 0xef, 0x00, 0x7b}, 8)

func write(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	return path
}

func TestSpellings(t *testing.T) {
	inHex := hex.EncodeToString(secret)
	for name, data := range map[string]string{
		"raw":                      string(secret),
		"hex":                      inHex,
		"upper case hex":           strings.ToUpper(inHex) + "\n",
		"base64":                   base64.StdEncoding.EncodeToString(secret),
		"base64 without padding":   base64.RawStdEncoding.EncodeToString(secret) + "\r\n",
		"base64url":                base64.URLEncoding.EncodeToString(secret),
		"base64url, not padded":    base64.RawURLEncoding.EncodeToString(secret),
		"byte order mark":          "\ufeff" + inHex,
		"comment in French":        "# clé\n" + inHex,
		"comments and blank lines": "# the ring\n\n \t" + inHex + " \n\n# end",
	} {
		got, err := Read(write(t, data))
		require.NoError(t, err, name)
		require.Equal(t, [][]byte{secret}, got, name)
	}
}

func TestRingInOrder(t *testing.T) {
	got, err := Read(write(t, "00ff\n# retired\nAQID\n"))
	require.NoError(t, err)
	require.Equal(t, [][]byte{{0x00, 0xff}, {1, 2, 3}}, got)
}

func TestBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"empty":         {"", "holds no secret: make one with"},
		"comments only": {"# nothing\n\n", "holds no secret"},
		"words":         {"00ff\ncorrect horse battery staple\n", "line 2: want one secret in hexadecimal or base64"},
		"odd length":    {strings.Repeat("ab", 31) + "a", "line 1: want one secret"},
		"unused bits":   {"//", "line 1: want one secret"},
		"a note":        {"put the key here — see the wiki", "line 1: want one secret"},
		"Latin-1":       {"# cl\xe9\n" + strings.Repeat("ab", 16), "text that is not UTF-8"},
		"long Latin-1":  {"# cl\xe9\n" + strings.Repeat("ab", 64), "134 bytes that are not UTF-8"},
		"UTF-16":        {"\xff\xfe" + strings.Repeat("a\x00b\x00", 16), "text that is not UTF-8"},
		"short and raw": {strings.Repeat("\xff", 31), "31 bytes that are not UTF-8"},
		"zeros":         {string(make([]byte, 32)), "line 1: want one secret"},
		"too long":      {strings.Repeat("00ff\n", maxSize/5+1), "longer than 1048576 bytes"},
	} {
		path := write(t, c.data)
		_, err := Read(path)
		require.ErrorContains(t, err, "key file "+path, name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "horse", name)
	}
	_, err := Read(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Read(t.TempDir())
	require.ErrorContains(t, err, "key file: ")
}

// TestModes checks that a file that others can access is refused.
func TestModes(t *testing.T) {
	path := write(t, hex.EncodeToString(secret))
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602, 0o644, 0o666} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := Read(path)
		require.ErrorContains(t, err, "chmod 600 "+path, "%o", mode)
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := Read(path)
		require.NoError(t, err, "%o", mode)
	}
}
