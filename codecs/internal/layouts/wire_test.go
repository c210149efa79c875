package layouts_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// TestAppend checks the order of the fields with and without an edit, and that
// an edit gets copies.
func TestAppend(t *testing.T) {
	layout := layouts.Layout{lab.WireKeyID, lab.WireBody, lab.WireTag}
	id, body, tag := []byte("id"), []byte("body"), []byte("tag")
	text := base64.RawURLEncoding.EncodeToString([]byte("idbodytag"))
	require.Equal(t, "kept.p1."+text, string(layout.Append([]byte("kept."), nil, []byte("p1."), id, body, tag)))

	var seen []lab.Step
	token := layout.Append(nil, func(s lab.Step, value []byte) []byte {
		seen = append(seen, s)
		for i := range value {
			value[i] ^= 1
		}
		if s == lab.WireTag {
			return nil
		}
		return value
	}, []byte("p1."), id, body, tag)
	require.Equal(t, []lab.Step{lab.WirePrefix, lab.WireKeyID, lab.WireBody, lab.WireTag, lab.WireText}, seen)
	want := []byte(base64.RawURLEncoding.EncodeToString([]byte("hecnex")))
	for i := range want {
		want[i] ^= 1
	}
	require.Equal(t, "q0/"+string(want), string(token))
	require.Equal(t, "idbodytag", string(id)+string(body)+string(tag))
}

func TestLastSeparator(t *testing.T) {
	tag := strings.Repeat("t", 43)
	for _, text := range []string{"", ".", "a.b", tag, "." + tag, "a.b." + tag, "a." + tag[1:], "a." + tag + "t", "a." + tag[:20] + "." + tag[:22], "a." + tag[:42] + "."} {
		require.Equal(t, bytes.LastIndexByte([]byte(text), '.'), layouts.LastSeparator([]byte(text)), text)
	}
}
