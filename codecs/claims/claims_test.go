package claims_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/claims"
	"sealab/codecs/codectest"
	"sealab/codecs/hmacsha256"
	"sealab/internal/lab"
)

// TestConformance runs the suite over one codec; package catalog's test does so
// over every other.
func TestConformance(t *testing.T) { codectest.Run(t, claims.Over(aesgcm.Design)) }

// newAssembler returns claims over a codec, with 8 bytes of seed.
func newAssembler(t *testing.T, reading claims.Reading) lab.SchemeAssembler {
	t.Helper()
	codec, err := hmacsha256.Design.OpenCodec(codecs.Config{Secrets: [][]byte{[]byte("thirty-two bytes for tests only!")}})
	require.NoError(t, err)
	s, err := claims.NewReading(codec, claims.DefaultTTL, reading)
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

func text(s string) *string { return &s }

// TestPayload holds the payload to one that the Python SDK made.
func TestPayload(t *testing.T) {
	b := &codecs.Context{
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"z":1.0,"a":[1e16,"é\ud800"]}`),
		Principal: text(`["client-1","https://as.example","alice"]`), Audience: text("svc"),
	}
	const want = `{"v":1,"iat":1795164472.25,"exp":1795165072.25,"m":"tools/call","t":"deploy","a":"VG12SySL3mRxxJCoqTLDkw",` +
		`"s":"{\"step\":1}","aud":"svc","p":"AAECAwQFBgcRnD5qVXfjX-BIrjvNMQl_"}`
	var got string
	_, err := newAssembler(t, claims.Strict).MintEdited(nil, []byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte(`{"step":1}`), codectest.At(b, time.Unix(1795164472, 250_000_000)), func(step lab.Step, value []byte) []byte {
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
	// head begins claims that are good from 940 to 1600 for method m, target t
	// and no arguments; s is the state.
	head  = `{"v":1,"iat":1000.0,"exp":1600.0,`
	tail  = `"m":"m","t":"t","a":"RBNvo1WzZ4oRRq0W9-hkng","s":"s"`
	whole = head + tail + `}`
)

// TestClaims presents authentic claims at time 1000. The reasons are those of
// the Python SDK; strict is what a strict reading answers where it differs.
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
		want, strict  string // "" accepts
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
		{"times spelt otherwise", `{"v":1,"iat":1e3,"exp":1.6e3,` + tail + `}`, bound, "", "malformed"},
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
		for reading, want := range map[claims.Reading]string{claims.Faithful: c.want, claims.Strict: c.strict} {
			s := newAssembler(t, reading)
			state, err := s.Verify([]byte("dst"), mint(t, s, c.payload), codectest.At(&c.binding, time.Unix(1000, 0)))
			codectest.RequireReason(t, want, err, "%s, reading %d", c.name, reading)
			returned := "dst"
			if want == "" {
				returned += "s"
			}
			require.Equal(t, returned, string(state), c.name)
		}
	}
}

func TestAppendDigest(t *testing.T) {
	const empty = "RBNvo1WzZ4oRRq0W9-hkng"
	for _, falsy := range []string{"null", " { } ", "[]", `""`, "0", "-0", "0.0", "-0e5", "1e-400", "false"} {
		got, err := claims.AppendDigest(nil, "tools/call", json.RawMessage(falsy))
		require.NoError(t, err, falsy)
		require.Equal(t, empty, string(got), falsy)
	}
	for _, truthy := range []string{"true", "1", "[0]", `"0"`, `{"":0}`, "1e-300", "NaN"} {
		got, err := claims.AppendDigest(nil, "tools/call", json.RawMessage(truthy))
		require.NoError(t, err, truthy)
		require.NotEqual(t, empty, string(got), truthy)
		got, err = claims.AppendDigest(nil, "resources/read", json.RawMessage(truthy))
		require.NoError(t, err, truthy)
		require.Equal(t, empty, string(got), truthy)
	}
	_, err := claims.AppendDigest(nil, "tools/call", json.RawMessage(`{"a"}`))
	require.ErrorContains(t, err, "not JSON")
}

func TestConfiguration(t *testing.T) {
	codec := hmacsha256.Ephemeral()
	for _, ttl := range []time.Duration{0, -1, -time.Hour} {
		_, err := claims.New(codec, ttl)
		require.ErrorContains(t, err, "must be positive")
	}
	_, err := claims.New(nil, time.Hour)
	require.Error(t, err)
}

// TestPlainCodec checks that a codec without a seeded twin gives a scheme
// without one.
func TestPlainCodec(t *testing.T) {
	s, err := claims.New(struct{ codecs.Codec }{hmacsha256.Ephemeral()}, time.Hour)
	require.NoError(t, err)
	_, seeded := s.(lab.SeededScheme)
	require.False(t, seeded)
	token, err := s.Mint(nil, []byte("s"), codectest.At(nil, time.Unix(5, 0)))
	require.NoError(t, err)
	state, err := s.Verify(nil, token, codectest.At(nil, time.Unix(6, 0)))
	require.NoError(t, err)
	require.Equal(t, "s", string(state))
}
