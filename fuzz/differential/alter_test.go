package differential

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCrossing(t *testing.T) {
	for given, want := range map[string]string{
		"":                                 "",
		"v1.é😀\x00\ufffd":                  "v1.é😀\x00\ufffd",
		"a\xffb":                           "a\ufffdb",
		"\xed\xa0":                         "\ufffd\ufffd",
		"a\xed\xa0\x80b":                   "a\xed\xa0\x80b",
		"\xed\xbf\xbf\xed\xa0\x80":         "\xed\xbf\xbf\xed\xa0\x80",
		"\xed\xa0\x80\xed\xa0\x80":         "\xed\xa0\x80\xed\xa0\x80",
		"\xed\xa0\x80x\xed\xbf\xbf":        "\xed\xa0\x80x\xed\xbf\xbf",
		"\xed\xa0\x80\xed\xbf\xbf":         "\xed\xa0\x80\ufffd\ufffd\ufffd", // a decoder would combine the pair
		"\xed\xa0\x80\xed\xbf\xbf\xed\xbf": "\xed\xa0\x80\ufffd\ufffd\ufffd\ufffd\ufffd",
	} {
		got := string(protocolText([]byte(given)))
		require.Equal(t, want, got, "%q", given)
		require.Equal(t, given == want, canCross([]byte(given)), "%q", given)
		require.True(t, canCross([]byte(got)), "%q", given)
	}
}
