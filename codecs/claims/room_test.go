package claims

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

// TestRoomIsCleared digests contexts with a room that is longer or shorter than
// their text.
func TestRoomIsCleared(t *testing.T) {
	for name, arguments := range map[string]string{
		"ASCII":       `{"a":"` + strings.Repeat("x", 300) + `"}`,
		"longer":      `{"a":"` + strings.Repeat("é", 300) + `"}`,
		"much longer": `{"a":"` + strings.Repeat("\x7f", 300) + `"}`,
		"no JSON":     `{"a":"` + strings.Repeat("x", 300),
	} {
		c := codecs.Context{Method: "m", Target: "t", Arguments: json.RawMessage(arguments)}
		for _, spare := range []int{0, 100, contextSize(&c), 4096} {
			room := append(make([]byte, 0, 7+spare), "payload"...)
			_, err := digestOf(room, make([]byte, saltSize), &c)
			require.Equal(t, name == "no JSON", err != nil)
			require.Equal(t, "payload", string(room))
			require.Empty(t, bytes.Trim(room[7:cap(room)], "\x00"), "%s with room for %d bytes", name, spare)
		}
	}
}
