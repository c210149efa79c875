package rmcp

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

func TestConformance(t *testing.T) {
	t.Run("rs1", func(t *testing.T) { codectest.Run(t, RS1) })
	t.Run("rs2", func(t *testing.T) { codectest.Run(t, RS2) })
}

var noon = time.Unix(1_795_132_800, 750_000_000)

func opened(t *testing.T, d codecs.Design, options map[string]string, ttl time.Duration, secrets ...[]byte) lab.SchemeAssembler {
	t.Helper()
	return codectest.Open(t, d, codecs.Config{Secrets: secrets, TTL: &ttl, Options: options})
}

// bound returns a design with fixed associated data.
func bound(d codecs.Design, data string) codecs.Design {
	open := newRS1
	if d.MaxKeys != 1 {
		open = newRS2
	}
	d.NewScheme = layouts.SchemeForLab(func(c codecs.Config) (*scheme, error) {
		s, err := open(c)
		if err == nil {
			s.bind = func(dst []byte, _ *codecs.Context) ([]byte, error) { return append(dst, data...), nil }
		}
		return s, err
	}, 0, (*scheme).mint)
	return d
}

var ks = bytes.Repeat([]byte("k"), 32)

// TestVectors presents tokens of the crate. The first two never expire and have
// the associated data "a"; the others are known answers of the crate's own
// tests.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		design codecs.Design
		secret string
		data   string
		ttl    time.Duration // 0: never
		now    time.Time
		state  string
		token  string
	}{
		{RS1, string(ks), "a", 0, noon, `{"step":1}`, "rs1.AAAAAAAAAAB7InN0ZXAiOjF9.pbuCg9-Xqnm_CAEdtwpM0nijjhkCQgToFnXGOfVlZSU"},
		{RS2, string(ks), "a", 0, noon, `{"step":1}`, "rs2.azE.AAAAAAAAAAB7InN0ZXAiOjF9.ZcMW8n6nWi4JodDQe3OZC7P9dY0hCyz9iVvVpNXUYH8"},
	} {
		options := map[string]string{"expiry": "ttl", "reading": "sdk"}
		if c.ttl == 0 {
			options["expiry"] = "never"
		}
		if c.design.MaxKeys != 1 {
			options["kid"] = "numbered"
		}
		s := opened(t, bound(c.design, c.data), options, c.ttl+time.Second, []byte(c.secret))
		minted, err := s.Mint(nil, []byte(c.state), &codecs.Context{Now: c.now})
		require.NoError(t, err)
		require.Equal(t, c.token, string(minted))
		state, err := s.Verify(nil, minted, &codecs.Context{Now: c.now})
		require.NoError(t, err)
		require.Equal(t, c.state, string(state))
	}
}

// TestReasons presents tokens that the crate refuses. The reasons are those of
// the crate, in the order of its checks.
func TestReasons(t *testing.T) {
	const rs1, rs2 = "rs1.AAAAAAAAAAB7InN0ZXAiOjF9.x8y3EvUbJLZgMTqJ7oqPEn6VSrTIFlnMzc6m3_Bn9qg", "rs2.azE.AAAAAAAAAAA."
	for _, c := range []struct{ token, one, ring, fallback string }{
		{"", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs1", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs1.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs1.AA.AA.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"RS1.AA.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs1.!.!", "InvalidEncoding", "UnknownKeyId", "InvalidEncoding"},
		{"rs1.AA.AB", "InvalidEncoding", "UnknownKeyId", "InvalidEncoding"},
		{"rs1.AA=.AA", "InvalidEncoding", "UnknownKeyId", "InvalidEncoding"},
		{"rs1..", "IntegrityCheckFailed", "UnknownKeyId", "IntegrityCheckFailed"},
		{rs1, "IntegrityCheckFailed", "UnknownKeyId", "IntegrityCheckFailed"},
		{"rs2.azE.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs2.azE.AA.AA.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs2.azE.AA.AA.AA.AA", "MalformedFormat", "MalformedFormat", "MalformedFormat"},
		{"rs2..AA.AA", "InvalidKeyId", "InvalidKeyId", "InvalidKeyId"},
		{"rs2._w.AA.AA", "InvalidKeyId", "InvalidKeyId", "InvalidKeyId"},
		{"rs2.!.AA.AA", "InvalidEncoding", "InvalidEncoding", "InvalidEncoding"},
		{"rs2." + string(bytes.Repeat([]byte("!"), 341)) + ".AA.AA", "InvalidKeyId", "InvalidKeyId", "InvalidKeyId"},
		{"rs2." + string(bytes.Repeat([]byte("YWFh"), 85)) + ".!.!", "UnknownKeyId", "UnknownKeyId", "UnknownKeyId"},
		{"rs2.azI.!.!", "UnknownKeyId", "UnknownKeyId", "UnknownKeyId"},
		{"rs2.azE.!.!", "UnknownKeyId", "InvalidEncoding", "InvalidEncoding"},
		{rs2, "UnknownKeyId", "IntegrityCheckFailed", "IntegrityCheckFailed"},
	} {
		for _, of := range []struct {
			scheme codecs.Scheme
			want   string
		}{
			{opened(t, RS1, nil, time.Minute, ks), c.one},
			{opened(t, RS2, map[string]string{"kid": "numbered"}, time.Minute, ks), c.ring},
			{opened(t, RS2, map[string]string{"kid": "numbered", "rs1": "fallback"}, time.Minute, ks), c.fallback},
		} {
			_, err := of.scheme.Verify(nil, []byte(c.token), &codecs.Context{Now: noon})
			codectest.RequireReason(t, of.want, err, "%q", c.token)
		}
	}
}

// TestExpiry verifies tokens at their expiry, in milliseconds, and tokens
// without one.
func TestExpiry(t *testing.T) {
	s := opened(t, RS2, nil, 1500*time.Millisecond, ks)
	token, err := s.Mint(nil, nil, &codecs.Context{Now: noon})
	require.NoError(t, err)
	for after, want := range map[time.Duration]string{
		-time.Hour: "", 1500 * time.Millisecond: "", 1500*time.Millisecond + 999*time.Microsecond: "", 1501 * time.Millisecond: "Expired",
	} {
		_, err := s.Verify(nil, token, &codecs.Context{Now: noon.Add(after)})
		codectest.RequireReason(t, want, err, "%v", after)
	}

	never := opened(t, RS2, map[string]string{"expiry": "never"}, time.Second, ks)
	eternal, err := never.Mint(nil, []byte("s"), &codecs.Context{Now: noon})
	require.NoError(t, err)
	later := &codecs.Context{Now: noon.Add(1e6 * time.Hour)}
	_, err = never.Verify(nil, eternal, later)
	require.NoError(t, err)
	_, err = opened(t, RS2, map[string]string{"reading": "sdk"}, time.Second, ks).Verify(nil, eternal, later)
	require.NoError(t, err)
	_, err = s.Verify(nil, eternal, later)
	codectest.RequireReason(t, "no expiry", err, "strict")
}

// TestBodies presents authentic bodies.
func TestBodies(t *testing.T) {
	for _, d := range []codecs.Design{RS1, RS2} {
		s := opened(t, lab.With(d, map[string]string{"reading": "sdk"}), nil, time.Minute, ks)
		for body, want := range map[string]string{
			"": "MalformedFormat", "\x00\x00\x00\x00\x00\x00\x00": "MalformedFormat",
			"\x00\x00\x00\x00\x00\x00\x00\x00": "", "\x7f\xff\xff\xff\xff\xff\xff\xffstate": "",
			"\xff\xff\xff\xff\xff\xff\xff\xff": "Expired", "\x00\x00\x00\x00\x00\x00\x00\x01": "Expired",
		} {
			token := codectest.MintWith(t, s, "", &codecs.Context{Now: noon}, lab.StepClaims, body)
			_, err := s.Verify(nil, token, &codecs.Context{Now: noon})
			codectest.RequireReason(t, want, err, "%q", body)
		}
	}
}

// TestDocumentedBindingIsAmbiguous finds two contexts with the same associated
// data under the crate's documented binding. With lengths they differ.
func TestDocumentedBindingIsAmbiguous(t *testing.T) {
	alice, glued := "alice", "alice|tools/call:x"
	minted := &codecs.Context{Now: noon, Principal: &alice, Method: "tools/call", Target: "x|tools/call:y"}
	other := &codecs.Context{Now: noon, Principal: &glued, Method: "tools/call", Target: "y"}
	for bind, want := range map[string]string{"docs": "", "request": "IntegrityCheckFailed"} {
		s := opened(t, RS2, map[string]string{"bind": bind}, time.Minute, ks)
		token, err := s.Mint(nil, []byte("s"), minted)
		require.NoError(t, err)
		_, err = s.Verify(nil, token, other)
		codectest.RequireReason(t, want, err, bind)
	}
	s := opened(t, RS2, map[string]string{"bind": "request"}, time.Minute, ks)
	unread := &codecs.Context{Now: noon, Method: "tools/call", Arguments: json.RawMessage("{")}
	_, err := s.Mint(nil, nil, unread)
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}

// TestRings checks the crate's rules for key rings: with the fallback, rs1
// tokens open under every key.
func TestRings(t *testing.T) {
	second := bytes.Repeat([]byte("2"), 40)
	old, err := opened(t, RS1, nil, time.Minute, second).Mint(nil, []byte("old"), &codecs.Context{Now: noon})
	require.NoError(t, err)
	for value, want := range map[string]string{"refused": "UnknownKeyId", "fallback": ""} {
		_, err := opened(t, RS2, map[string]string{"rs1": value}, time.Minute, ks, second).Verify(nil, old, &codecs.Context{Now: noon})
		codectest.RequireReason(t, want, err, value)
	}
	for reading, wrong := range map[string]bool{"strict": true, "sdk": false} {
		_, err := RS2.OpenScheme(codecs.Config{Secrets: [][]byte{ks, ks}, Options: map[string]string{"kid": "numbered", "reading": reading}})
		require.Equal(t, wrong, err != nil, reading)
	}
	for _, d := range []codecs.Design{RS1, RS2} {
		for reading, least := range map[string]time.Duration{"strict": time.Millisecond, "sdk": 0} {
			config := codecs.Config{Secrets: [][]byte{ks}, TTL: &least, Options: map[string]string{"reading": reading}}
			_, err := d.OpenScheme(config)
			require.NoError(t, err)
			under := least - 1
			config.TTL = &under
			_, err = d.OpenScheme(config)
			require.Error(t, err)
		}
	}
}
