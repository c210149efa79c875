package mcppy_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/mcppy"
	"sealab/internal/lab"
)

// open returns the scheme of a reading, ready for step by step minting.
func open(t *testing.T, reading string) lab.SchemeAssembler {
	t.Helper()
	s, err := mcppy.Design.OpenScheme(codecs.Config{Secrets: [][]byte{bytes.Repeat([]byte("k"), 32)}, Options: map[string]string{"reading": reading}})
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

func text(s string) *string { return &s }

// TestPayload compares a payload with one from the Python SDK.
func TestPayload(t *testing.T) {
	b := &codecs.Context{
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"z":1.0,"a":[1e16,"é\ud800"]}`),
		Principal: text(`["client-1","https://as.example","alice"]`), Audience: text("svc"),
	}
	const want = `{"v":1,"iat":1795164472.25,"exp":1795165072.25,"m":"tools/call","t":"deploy","a":"VG12SySL3mRxxJCoqTLDkw",` +
		`"s":"{\"step\":1}","aud":"svc","p":"AAECAwQFBgcRnD5qVXfjX-BIrjvNMQl_"}`
	var got string
	_, err := open(t, "strict").MintEdited(nil, append(make([]byte, 12), 0, 1, 2, 3, 4, 5, 6, 7), []byte(`{"step":1}`), codectest.At(b, time.Unix(1795164472, 250_000_000)), func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			got = string(value)
		}
		return value
	})
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// mint returns a token whose claims are replaced by payload.
func mint(t *testing.T, s lab.SchemeAssembler, payload string) []byte {
	t.Helper()
	token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), nil, codectest.At(nil, time.Unix(1000, 0)), func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			return []byte(payload)
		}
		return value
	})
	require.NoError(t, err)
	return token
}

const (
	// head begins claims that are valid from 940 to 1600 for method m, target t
	// and no arguments. The state is s.
	head  = `{"v":1,"iat":1000.0,"exp":1600.0,`
	tail  = `"m":"m","t":"t","a":"RBNvo1WzZ4oRRq0W9-hkng","s":"s"`
	whole = head + tail + `}`
)

// TestClaims presents authentic claims at time 1000. want is the reason of the
// Python SDK, and strict that of the strict reading if it differs.
func TestClaims(t *testing.T) {
	bound := codecs.Context{Method: "m", Target: "t"}
	with := func(change func(*codecs.Context)) codecs.Context {
		b := bound
		change(&b)
		return b
	}
	for _, c := range []struct {
		name, payload string
		binding       codecs.Context
		want, strict  string // "" if the token is accepted
	}{
		{"sound", whole, bound, "", ""},
		{"white space", " " + whole, bound, "", "malformed"},
		{"other order", `{"s":"s","v":1,"iat":1000.0,"exp":1600.0,"m":"m","t":"t","a":"RBNvo1WzZ4oRRq0W9-hkng"}`, bound, "", "malformed"},
		{"version true", `{"v":true,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "", "malformed"},
		{"version 1.0", `{"v":1.0,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "", "malformed"},
		{"version 2", `{"v":2,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"version 0", `{"v":0,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"version false", `{"v":false,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"version NaN", `{"v":NaN,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"version near 1", `{"v":1.0000000000000002,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"version of many digits", `{"v":10000000000000000000001,"iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"expired by a big integer", `{"v":1,"iat":1000.0,"exp":-10000000000000000000001,` + tail + `}`, bound, "expired", "malformed"},
		{"version text", `{"v":"1","iat":1000.0,"exp":1600.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"integer times", `{"v":1,"iat":1000,"exp":1600,` + tail + `}`, bound, "", ""},
		{"times spelled otherwise", `{"v":1,"iat":1e3,"exp":1.6e3,` + tail + `}`, bound, "", "malformed"},
		{"issued true", `{"v":1,"iat":true,"exp":1600.0,` + tail + `}`, bound, "", "malformed"},
		{"issued null", `{"v":1,"iat":null,"exp":1600.0,` + tail + `}`, bound, "minted in the future", "malformed"},
		{"issued NaN", `{"v":1,"iat":NaN,"exp":1600.0,` + tail + `}`, bound, "minted in the future", "malformed"},
		{"issued long ago", `{"v":1,"iat":-Infinity,"exp":1600.0,` + tail + `}`, bound, "", "malformed"},
		{"issued in 60 s", `{"v":1,"iat":1060.0,"exp":1600.0,` + tail + `}`, bound, "", ""},
		{"issued in 60.25 s", `{"v":1,"iat":1060.25,"exp":1600.0,` + tail + `}`, bound, "minted in the future", "minted in the future"},
		{"expires now", `{"v":1,"iat":1000.0,"exp":1000.0,` + tail + `}`, bound, "expired", "expired"},
		{"expires never", `{"v":1,"iat":1000.0,"exp":1e999,` + tail + `}`, bound, "", "malformed"},
		{"expires at infinity", `{"v":1,"iat":1000.0,"exp":Infinity,` + tail + `}`, bound, "", "malformed"},
		{"expires in a big integer", `{"v":1,"iat":1000.0,"exp":123456789012345678901234567890,` + tail + `}`, bound, "", "malformed"},
		{"expires by text", `{"v":1,"iat":1000.0,"exp":"1600",` + tail + `}`, bound, "expired", "malformed"},
		{"expires NaN", `{"v":1,"iat":1000.0,"exp":NaN,` + tail + `}`, bound, "expired", "malformed"},
		{"no expiry", `{"v":1,"iat":1000.0,` + tail + `}`, bound, "malformed", "malformed"},
		{"repeated claim", `{"exp":0,` + whole[1:], bound, "", "malformed"},
		{"unknown claim", whole[:len(whole)-1] + `,"x":1}`, bound, "", "malformed"},
		{"state null", head + `"m":"m","t":"t","a":"RBNvo1WzZ4oRRq0W9-hkng","s":null}`, bound, "malformed", "malformed"},
		{"a list", `[]`, bound, "malformed", "malformed"},
		{"nothing", ``, bound, "malformed", "malformed"},
		{"UTF-8 with mark", "\xef\xbb\xbf" + whole, bound, "", "malformed"},
		{"not UTF-8", whole[:len(whole)-2] + "\xff\"}", bound, "malformed", "malformed"},
		{"method", whole, with(func(b *codecs.Context) { b.Method = "M" }), "request binding", "request binding"},
		{"target", whole, with(func(b *codecs.Context) { b.Target = "" }), "request binding", "request binding"},
		{"arguments", whole, with(func(b *codecs.Context) { b.Arguments = json.RawMessage(`[0]`) }), "request binding", "request binding"},
		{"not JSON", whole, with(func(b *codecs.Context) { b.Arguments = json.RawMessage(`{`) }), "request binding", "request binding"},
		{"arguments and audience", whole, with(func(b *codecs.Context) { b.Arguments, b.Audience = json.RawMessage(`[0]`), text("") }), "request binding", "request binding"},
		{"audience and principal", whole, with(func(b *codecs.Context) { b.Audience, b.Principal = text(""), text("") }), "audience", "audience"},
		{"audience added", whole, with(func(b *codecs.Context) { b.Audience = text("") }), "audience", "audience"},
		{"audience null", whole[:len(whole)-1] + `,"aud":null}`, bound, "", "malformed"},
		{"audience number", whole[:len(whole)-1] + `,"aud":0}`, bound, "audience", "malformed"},
		{"principal added", whole, with(func(b *codecs.Context) { b.Principal = text("") }), "principal drift", "principal drift"},
		{"principal gone", whole[:len(whole)-1] + `,"p":""}`, bound, "principal drift", "principal drift"},
		{"principal short", whole[:len(whole)-1] + `,"p":""}`, with(func(b *codecs.Context) { b.Principal = text("") }), "principal", "principal"},
		{"principal number", whole[:len(whole)-1] + `,"p":1}`, with(func(b *codecs.Context) { b.Principal = text("") }), "principal", "malformed"},
	} {
		for reading, want := range map[string]string{"sdk": c.want, "strict": c.strict} {
			s := open(t, reading)
			state, err := s.Verify([]byte("dst"), mint(t, s, c.payload), codectest.At(&c.binding, time.Unix(1000, 0)))
			codectest.RequireReason(t, want, err, "%s, reading %s", c.name, reading)
			returned := "dst"
			if want == "" {
				returned += "s"
			}
			require.Equal(t, returned, string(state), c.name)
		}
	}
}
