package claims_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
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

// TestConformance runs the suite over one codec; the test of package catalog
// runs it over every other.
func TestConformance(t *testing.T) { codectest.Run(t, claims.Over(aesgcm.Design)) }

// newAssembler returns claims over a codec without a seed.
func newAssembler(t *testing.T) lab.SchemeAssembler {
	t.Helper()
	codec, err := hmacsha256.Design.OpenCodec(codecs.Config{Secrets: [][]byte{[]byte("thirty-two bytes for tests only!")}})
	require.NoError(t, err)
	s, err := claims.New(codec, claims.DefaultTTL)
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// payloadOf returns the payload that a token is sealed from.
func payloadOf(t *testing.T, seed, state []byte, c *codecs.Context) (payload []byte) {
	t.Helper()
	_, err := newAssembler(t).MintEdited(nil, seed, state, c, func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			payload = bytes.Clone(value)
		}
		return value
	})
	require.NoError(t, err)
	return payload
}

// TestPayload compares a payload with one that is assembled by hand.
func TestPayload(t *testing.T) {
	alice, service := "alice", "svc"
	const issued, hour = 1_795_164_472_250_000_000, 600_000_000_000
	salt := []byte("0123456789abcdef")
	c := codecs.Context{
		Now: time.Unix(0, issued), Method: "tools/call", Target: "deploy", Audience: &service, Principal: &alice,
		Arguments: json.RawMessage(` {"z": 1.0, "a": [1e16, "é"]} `),
	}
	digest := sha256.Sum256([]byte("sealab/claims/v2" + string(salt) + "\x07" + "\x0atools/call" + "\x06deploy" + "\x03svc" + "\x05alice" + `{"a":[1e16,"\u00e9"],"z":1.0}`))
	want := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{2}, issued), issued+hour)
	want = append(append(append(want, salt...), digest[:16]...), "\xffstate"...)
	require.Equal(t, want, payloadOf(t, salt, []byte("\xffstate"), &c))

	c.Arguments, c.Audience, c.Principal = nil, nil, nil
	digest = sha256.Sum256([]byte("sealab/claims/v2" + string(salt) + "\x00" + "\x0atools/call" + "\x06deploy"))
	require.Equal(t, digest[:16], payloadOf(t, salt, nil, &c)[33:])
}

// TestClaims presents authentic claims.
func TestClaims(t *testing.T) {
	at := func(seconds int64) *codecs.Context {
		return &codecs.Context{Now: time.Unix(seconds, 0), Method: "m", Target: "t"}
	}
	sound := payloadOf(t, make([]byte, 16), []byte("s"), at(1000))
	with := func(change func([]byte)) []byte {
		payload := bytes.Clone(sound)
		change(payload)
		return payload
	}
	issued := func(n int64) []byte {
		return with(func(b []byte) { binary.BigEndian.PutUint64(b[1:], uint64(n)) })
	}
	expires := func(n int64) []byte {
		return with(func(b []byte) { binary.BigEndian.PutUint64(b[9:], uint64(n)) })
	}
	changed := func(change func(*codecs.Context)) *codecs.Context {
		c := at(1000)
		change(c)
		return c
	}
	empty := ""
	const second = int64(time.Second)
	for _, c := range []struct {
		name    string
		payload []byte
		context *codecs.Context
		want    string // "" if the token is accepted
	}{
		{"sound", sound, at(1000), ""},
		{"before its expiry", sound, changed(func(c *codecs.Context) { c.Now = time.Unix(1600, -1) }), ""},
		{"at its expiry", sound, at(1600), "expired"},
		{"empty", nil, at(1000), "claims"},
		{"no state", sound[:49], at(1000), ""},
		{"cut", sound[:48], at(1000), "claims"},
		{"version 1", with(func(b []byte) { b[0] = 1 }), at(1000), "claims"},
		{"version 3", with(func(b []byte) { b[0] = 3 }), at(1000), "claims"},
		{"issued in 60 s", issued(1060 * second), at(1000), ""},
		{"issued in more than 60 s", issued(1060*second + 1), at(1000), "minted in the future"},
		{"issued at the end of time", issued(math.MaxInt64), at(1000), "minted in the future"},
		{"issued at the end of time, long ago", issued(math.MaxInt64), at(math.MinInt64 / 2), "minted in the future"},
		{"issued long ago", issued(math.MinInt64), at(1000), ""},
		{"expires now", expires(1000 * second), at(1000), "expired"},
		{"expires in 1 ns", expires(1000*second + 1), at(1000), ""},
		{"expired long ago", expires(math.MinInt64), at(1000), "expired"},
		{"expires at the end of time, which has passed", expires(math.MaxInt64), at(math.MaxInt64 / 2), "expired"},
		{"other salt", with(func(b []byte) { b[17]++ }), at(1000), "other request, audience or principal"},
		{"other digest", with(func(b []byte) { b[48]++ }), at(1000), "other request, audience or principal"},
		{"method", sound, changed(func(c *codecs.Context) { c.Method = "M" }), "other request, audience or principal"},
		{"border of method and target", sound, changed(func(c *codecs.Context) { c.Method, c.Target = "mt", "" }), "other request, audience or principal"},
		{"arguments", sound, changed(func(c *codecs.Context) { c.Arguments = []byte(`null`) }), "other request, audience or principal"},
		{"arguments that are not JSON", sound, changed(func(c *codecs.Context) { c.Arguments = []byte(`{`) }), "other request, audience or principal"},
		{"audience", sound, changed(func(c *codecs.Context) { c.Audience = &empty }), "other request, audience or principal"},
		{"principal", sound, changed(func(c *codecs.Context) { c.Principal = &empty }), "other request, audience or principal"},
	} {
		s := newAssembler(t)
		token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), nil, at(1000), func(step lab.Step, value []byte) []byte {
			if step == lab.StepClaims {
				return bytes.Clone(c.payload)
			}
			return value
		})
		require.NoError(t, err)
		state, err := s.Verify([]byte("dst"), token, c.context)
		codectest.RequireReason(t, c.want, err, "%s", c.name)
		returned := "dst"
		if c.want == "" && len(c.payload) > 49 {
			returned += "s"
		}
		require.Equal(t, returned, string(state), c.name)
	}
}

// TestTimes mints at times outside the range of a payload, and at the ends of
// the range.
func TestTimes(t *testing.T) {
	s, err := claims.New(hmacsha256.Ephemeral(), time.Second)
	require.NoError(t, err)
	last := time.Unix(0, math.MaxInt64).Add(-2 * time.Second)
	for now, want := range map[time.Time]error{
		last: nil, time.Unix(0, math.MaxInt64): codecs.ErrUnsupported, time.Unix(math.MaxInt64/2, 0): codecs.ErrUnsupported,
		time.Unix(-1<<33, 0): nil, time.Unix(-1<<34, 0): codecs.ErrUnsupported,
	} {
		token, err := s.Mint(nil, []byte("s"), &codecs.Context{Now: now})
		require.ErrorIs(t, err, want, "%v", now)
		if want == nil {
			_, err = s.Verify(nil, token, &codecs.Context{Now: now})
			require.NoError(t, err, "%v", now)
		}
	}
}

// TestArgumentsInAnyForm mints for arguments and presents other encodings of
// the same JSON.
func TestArgumentsInAnyForm(t *testing.T) {
	s, err := claims.New(hmacsha256.Ephemeral(), time.Hour)
	require.NoError(t, err)
	context := func(arguments string) *codecs.Context {
		return &codecs.Context{Now: time.Unix(1000, 0), Arguments: []byte(arguments)}
	}
	token, err := s.Mint(nil, nil, context(`{"a":{"x":1,"y":"é"},"b":[true,1.5]}`))
	require.NoError(t, err)
	for _, same := range []string{`{"b":[true,1.5],"a":{"y":"\u00e9","x":1}}`, " {\"a\" : {\"x\":1,\n\"y\":\"é\"}, \"b\":[true,1.5]}\t"} {
		_, err := s.Verify(nil, token, context(same))
		require.NoError(t, err, same)
	}
	for _, other := range []string{`{"a":{"x":1,"y":"é"},"b":[1.5,true]}`, `{"a":{"x":1.0,"y":"é"},"b":[true,1.5]}`, `{"a":{"x":1,"y":"e"},"b":[true,1.5]}`, `{}`, `NaN`} {
		_, err := s.Verify(nil, token, context(other))
		require.Error(t, err, other)
	}
	_, err = s.Mint(nil, nil, context(`{"a"}`))
	require.ErrorIs(t, err, codecs.ErrUnsupported)
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

// TestPlainCodec checks that a codec without step by step sealing gives a
// scheme without step by step minting.
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
