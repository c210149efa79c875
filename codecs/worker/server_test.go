package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

func TestServerAnswersAnything(t *testing.T) {
	s := newSession(&Server{Design: codecs.Design{Name: "none", NewCodec: func(codecs.Config) (codecs.Codec, error) {
		panic("broken")
	}}})
	for request, want := range map[string]string{
		`{"op":"dance"}`:                   `{"ok":false,"unsupported":true}`,
		`{"op":"bench","do":"seal"}`:       `{"ok":false,"unsupported":true}`,
		`{}`:                               `{"ok":false,"unsupported":true}`,
		`{"op":"hello","protocol":2}`:      `{"ok":false,"fault":"sealab: got protocol 2, want 1"}`,
		`{"op":"seal","handle":3}`:         `{"ok":false,"fault":"sealab: there is no handle 3"}`,
		`{"op":"close","handle":3}`:        `{"ok":false,"fault":"sealab: there is no handle 3"}`,
		`{"op":"open","keys_b64":[]}`:      `{"ok":false,"fault":"sealab: panic: broken"}`,
		`{"op":"open","ttl":1e99}`:         `{"ok":false,"refused":"sealab: \"1e99\" is not a number of seconds"}`,
		"\xff":                             `{"ok":false,"fault":"sealab: the request is not UTF-8"}`,
		`{"op":"open","keys_b64":["AAB"]}`: `{"ok":false,"fault":"sealab: the request cannot be read: sealab: 3 characters are not canonical base64url without padding"}`,
	} {
		require.Equal(t, want, string(s.answer([]byte(request))), request)
	}
}
