package framework_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/framework"
)

// TestTextDecode runs the examples of Unicode 15, section 3.9, tables 3-8 to
// 3-11, and results of a TextDecoder in Node.js.
func TestTextDecode(t *testing.T) {
	const mark = "\ufffd"
	for text, want := range map[string]string{
		"aé€\U0001f600":                        "aé€\U0001f600",
		"\ufeffa\ufeff":                        "a\ufeff",
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82A":    mark + mark + mark + mark + mark + mark + mark + mark + "A",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xafA":    mark + mark + mark + mark + mark + mark + mark + mark + "A",
		"\xf4\x91\x92\x93\xffA\x80\xbfB":       mark + mark + mark + mark + mark + "A" + mark + mark + "B",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbfA":    mark + mark + mark + mark + "A",
		"\xf0\x90\x80":                         mark,
		"\xe2\x82":                             mark,
		"\xc2":                                 mark,
		"\xf1\x80\x80\x80\xf5\x80\xe0\xa0\x80": "\U00040000" + mark + mark + "\u0800",
	} {
		require.Equal(t, want, string(framework.TextDecode([]byte(text))), "%q", text)
	}
}

func TestTextEncode(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "\xed\x9f\xbf": "\xed\x9f\xbf", "a\xed\xa0\x80b\xed\xbf\xbf": "a\ufffdb\ufffd", "\xed\xa0a": "\ufffd\ufffda",
	} {
		require.Equal(t, want, string(framework.TextEncode([]byte(text))), "%q", text)
	}
}
