package worker

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

func TestServerAnswersAnything(t *testing.T) {
	s := newSession(&Server{Design: codecs.Design{Name: "none", NewCodec: func(codecs.Config) (codecs.Codec, error) {
		panic("broken")
	}}})
	for request, want := range map[string]string{
		`{"op":"dance"}`:                   `{"ok":false,"unsupported":true}`,
		`{"op":"bench","do":"seal"}`:       `{"ok":false,"unsupported":true}`,
		`{}`:                               `{"ok":false,"unsupported":true}`,
		`{"op":"hello","protocol":2}`:      `{"ok":false,"fault":"got protocol 2, want 1"}`,
		`{"op":"seal","handle":3}`:         `{"ok":false,"fault":"there is no handle 3"}`,
		`{"op":"close","handle":3}`:        `{"ok":false,"fault":"there is no handle 3"}`,
		`{"op":"open","keys_b64":[]}`:      `{"ok":false,"fault":"panic: broken"}`,
		`{"op":"open","ttl":1e99}`:         `{"ok":false,"refused":"\"1e99\" is not a number of seconds"}`,
		"\xff":                             `{"ok":false,"fault":"the request is not UTF-8"}`,
		`{"op":"open","keys_b64":["AAB"]}`: `{"ok":false,"fault":"the request cannot be read: 3 characters are not canonical base64url without padding"}`,
	} {
		require.Equal(t, want, string(s.answer([]byte(request))), request)
	}
}

// TestFaultIsTheWholeAnswer checks that a fault replaces a partly written
// answer, and that its text is valid even if it quotes other bytes.
func TestFaultIsTheWholeAnswer(t *testing.T) {
	d := codecs.Design{Name: "picky", NewScheme: func(codecs.Config) (codecs.Scheme, error) { return accepting{}, nil }}
	s := newSession(&Server{Design: d})
	require.Equal(t, `{"ok":true,"handle":1}`, string(s.answer([]byte(`{"op":"open"}`))))
	const ask = `{"op":"verify","handle":1,"now":0,"tokens":["a",%s]}`
	for token, want := range map[string]string{
		`"panic"`: `{"ok":false,"fault":"panic: ` + "\ufffd" + `"}`,
		`"odd"`:   `{"ok":false,"unsupported":true}`,
		`"b"`:     `{"ok":true,"verdicts":[{"ok":true,"state_b64":"c3RhdGU"},{"ok":true,"state_b64":"c3RhdGU"}]}`,
	} {
		require.Equal(t, want, string(s.answer(fmt.Appendf(nil, ask, token))), token)
	}
}

// BenchmarkCase writes a case of a scheme as protocol messages and replays it:
// all steps of a request except the pipe.
func BenchmarkCase(b *testing.B) {
	d := codecs.Design{Name: "accepting", NewScheme: func(codecs.Config) (codecs.Scheme, error) { return accepting{}, nil }}
	opened, err := OpenCase(codecs.Config{Secrets: [][]byte{make([]byte, codecs.MinSecret)}}, nil)
	require.NoError(b, err)
	r, err := NewReplayer(d, opened.Open)
	require.NoError(b, err)
	alice := "alice"
	binding := &codecs.Context{Now: time.Unix(1795132800, 250_000_000), Method: "tools/call", Target: "deploy", Arguments: []byte(`{"env":"prod"}`), Principal: &alice}
	token := bytes.Repeat([]byte("v1.AAAA-_"), 20)
	b.ReportAllocs()
	for b.Loop() {
		c, err := opened.Judge(codecs.KindScheme, token, binding, lab.Answer{Payload: []byte("state")})
		if err != nil {
			b.Fatal(err)
		}
		if _, agrees, err := r.Replay(c); err != nil || !agrees {
			b.Fatal(agrees, err)
		}
	}
}

// accepting verifies every token as the state "state", with two exceptions:
// "panic" panics, and "odd" is refused for a reason that is not UTF-8.
type accepting struct{}

func (accepting) Mint(dst, _ []byte, _ *codecs.Context) ([]byte, error) { return dst, nil }

func (accepting) Verify(dst, token []byte, _ *codecs.Context) ([]byte, error) {
	switch string(token) {
	case "panic":
		panic("\xff")
	case "odd":
		return dst, codecs.Reject(codecs.Malformed, "\xff")
	}
	return append(dst, "state"...), nil
}
