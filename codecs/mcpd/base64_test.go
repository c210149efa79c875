package mcpd

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/base64url"
)

// TestLenient lists the answers of std.base64.Base64URLNoPadding of Phobos
// 2.100 in a checked build; "-" is a refusal or a crash.
func TestLenient(t *testing.T) {
	for segment, want := range map[string]string{
		"": "", "AAAA": "000000", "_-8A": "ffef00", "AA": "00", "AB": "00", "AAB": "0000",
		"\x00AAA": "fc0000", "_AAA": "fc0000", "A\x00AA": "fff000", "A_AA": "03f000", "\x00\x00AA": "fff000",
		"A\x00": "ff", "\x00A": "fc", "AA\x00": "00ff", "A\x00A": "fff0",
		"AA\x00A": "-", "AAA\x00": "-", "AA\x00AAA": "-", "A": "-", "AAAAA": "-", "\x00": "-",
		"AA==": "-", "AA A": "-", "AA\nA": "-", "AA\r\n": "-", "+AAA": "-", "/AAA": "-", "é": "-", "AA\x80A": "-", "AA.A": "-",
	} {
		var room base64url.Scratch
		ok := lenient(&room, []byte(segment))
		raw := room.Bytes
		require.Equal(t, want != "-", ok, "%q", segment)
		if ok {
			require.Equal(t, want, hex.EncodeToString(raw), "%q", segment)
		}
	}
}
