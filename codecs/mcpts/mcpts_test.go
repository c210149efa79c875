package mcpts_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/mcpts"
	"sealab/internal/lab"
)

func TestConformance(t *testing.T) { codectest.Run(t, mcpts.Design) }

var (
	key  = []byte("thirty-two bytes for tests only!")
	noon = time.Unix(1_795_132_800, 750_000_000)
)

func open(t *testing.T, d codecs.Design, ttl time.Duration, options map[string]string) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(codecs.Config{Secrets: [][]byte{key}, TTL: &ttl, Options: options})
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// asSDK is the design under reading=sdk.
var asSDK = lab.With(mcpts.Design, map[string]string{"reading": "sdk"})

// TestClaims presents authentic claims of any form. The reasons are the
// messages of the SDK's errors, as Node prints them.
func TestClaims(t *testing.T) {
	const tag = "AAAAAAAAAAAAAAAAAAAAAA"
	for _, c := range []struct {
		claims, bind string
		want, strict string // "" if the token is accepted
	}{
		{`{"p":"s","exp":1795132800}`, "none", "", ""},
		{`{"p":"s","exp":1795132800.5}`, "none", "", ""},
		{`{"p":"s","exp":1795132799.5}`, "none", "expired", "expired"},
		{`{"exp":1795132800,"p":"s"}`, "none", "", "malformed"},
		{` {"p":"s","exp":1795132800}`, "none", "", "malformed"},
		{"\ufeff" + `{"p":"s","exp":1795132800}`, "none", "", "malformed"},
		{`{"p":"s","exp":1e400}`, "none", "", "malformed"},
		{`{"p":"s","exp":1,"exp":2e9}`, "none", "", "malformed"},
		{`{"p":"s","exp":2e9,"x":[]}`, "none", "", "malformed"},
		{`{"p":"\u0073","exp":1795132800}`, "none", "", "malformed"},
		{`{"p":"s","exp":"2e9"}`, "none", "expired", "malformed"},
		{`{"p":"s"}`, "none", "expired", "malformed"},
		{`[]`, "none", "expired", "malformed"},
		{`1`, "none", "expired", "malformed"},
		{`null`, "none", "Cannot read properties of null (reading 'exp')", "malformed"},
		{`{"p":"s","exp":NaN}`, "none", "malformed", "malformed"},
		{"{\"p\":\"\xff\",\"exp\":1795132800}", "none", "malformed", "malformed"},
		{"{\"p\":\"\xed\xa0\x80\",\"exp\":1795132800}", "none", "malformed", "malformed"},
		{`{"p":"s","exp":1795132800,"b":"` + tag + `"}`, "none", "bind", "bind"},
		{`{"p":"s","exp":1795132800,"b":null}`, "none", "bind", "malformed"},
		{`{"p":"s","exp":1795132800}`, "principal", "bind", "bind"},
		{`{"p":"s","exp":1795132800,"b":"` + tag + `"}`, "principal", "bind", "bind"},
		{`{"p":"s","exp":1795132800,"b":null}`, "principal", "Cannot read properties of null (reading 'length')", "malformed"},
		{`{"p":"s","exp":1795132800,"b":22}`, "principal", "bind", "malformed"},
		{`{"p":"s","exp":1795132800,"b":{"length":22}}`, "principal", "a.codePointAt is not a function", "malformed"},
		{`{"p":"s","exp":1795132800,"b":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}`, "principal", "a.codePointAt is not a function", "malformed"},
		{`{"p":"s","exp":1795132800,"b":[]}`, "principal", "bind", "malformed"},
	} {
		for _, r := range []struct {
			design codecs.Design
			want   string
		}{{asSDK, c.want}, {mcpts.Design, c.strict}} {
			s := open(t, r.design, time.Minute, map[string]string{"bind": c.bind})
			token, err := s.MintEdited(nil, nil, []byte("s"), codectest.At(nil, noon), func(step lab.Step, value []byte) []byte {
				if step == lab.StepClaims {
					return []byte(c.claims)
				}
				return value
			})
			require.NoError(t, err)
			state, err := s.Verify(nil, token, codectest.At(nil, noon))
			codectest.RequireReason(t, r.want, err, "%s", c.claims)
			if r.want == "" {
				require.Equal(t, "s", string(state))
			}
		}
	}
}

// TestSpellings presents other encodings of the mac's segment.
func TestSpellings(t *testing.T) {
	faithful, strict := open(t, asSDK, time.Minute, nil), open(t, mcpts.Design, time.Minute, nil)
	token, err := strict.Mint(nil, []byte("s"), codectest.At(nil, noon))
	require.NoError(t, err)
	for suffix, accepted := range map[string]bool{
		"": true, "=": true, " =\n": true, "\t\r\n\f ": true, "==": false, "\v": false, "\x00": false, "A": false, ".": false, "\u00a0": false,
	} {
		presented := append(append([]byte(nil), token...), suffix...)
		_, err := faithful.Verify(nil, presented, codectest.At(nil, noon))
		require.Equal(t, accepted, err == nil, "%q: %v", suffix, err)
		_, err = strict.Verify(nil, presented, codectest.At(nil, noon))
		require.Equal(t, suffix == "", err == nil, "%q: %v", suffix, err)
	}
}

// TestMACIsOfWhatATextEncoderWrites presents bodies that are not base64url
// under a valid mac. The SDK passes them to a TextEncoder, which replaces a
// lone surrogate by U+FFFD, before it decodes them.
func TestMACIsOfWhatATextEncoderWrites(t *testing.T) {
	s := open(t, asSDK, time.Minute, nil)
	for body, signed := range map[string]string{
		"\xed\xa0\x80":    "\ufffd",
		"e30\xed\xbf\xbf": "e30\ufffd",
		"\ufffd":          "\ufffd",
		"é.😀":             "é.😀",
	} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("v1." + signed))
		token := "v1." + body + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
		_, err := s.Verify(nil, []byte(token), codectest.At(nil, noon))
		codectest.RequireReason(t, "malformed", err, "%q", body)
	}
	_, err := s.Verify(nil, []byte("v1.\xed\xa0\x80.AA"), codectest.At(nil, noon))
	require.Equal(t, "mac", codecs.Rejected(err).Reason)
}

// TestJSONPayload compares states with the output of
// JSON.stringify(JSON.parse(x)) in Node.
func TestJSONPayload(t *testing.T) {
	s := open(t, mcpts.Design, time.Minute, map[string]string{"payload": "json"})
	for state, want := range map[string]string{
		`null`:                          `null`,
		` { "b" : [ 1 , true ] } `:      `{"b":[1,true]}`,
		`{"b":1,"10":2,"a":3,"2":4}`:    `{"2":4,"10":2,"b":1,"a":3}`,
		`{"b":1,"a":2,"b":3}`:           `{"b":3,"a":2}`,
		`{"01":1,"4294967295":2,"1":3}`: `{"1":3,"01":1,"4294967295":2}`,
		`{"__proto__":{"a":1}}`:         `{"__proto__":{"a":1}}`,
		`[1.0,-0,1e21,1e20,1e-6,1e-7,1.5e-10,1e400,123456789012345678]`: `[1,0,1e+21,100000000000000000000,0.000001,1e-7,1.5e-10,null,123456789012345680]`,
		`"\u2028\u007f\u0001\n\ud83d\ude00\ud800/"`:                     "\"\u2028\x7f\\u0001\\n😀\\ud800/\"",
	} {
		token, err := s.Mint(nil, []byte(state), codectest.At(nil, noon))
		require.NoError(t, err)
		got, err := s.Verify(nil, token, codectest.At(nil, noon))
		require.NoError(t, err)
		require.Equal(t, want, string(got), state)
	}
	for _, state := range []string{`{`, "\"\xff\"", "\"\xed\xa0\x80\""} {
		_, err := s.Mint(nil, []byte(state), codectest.At(nil, noon))
		require.ErrorIs(t, err, codecs.ErrUnsupported, state)
	}
}

// TestFaithfulPayloads presents other payloads than text under payload=text,
// and claims without a payload.
func TestFaithfulPayloads(t *testing.T) {
	text := open(t, asSDK, time.Minute, nil)
	asJSON := open(t, asSDK, time.Minute, map[string]string{"payload": "json"})
	token, err := asJSON.Mint(nil, []byte(`{"a":1}`), codectest.At(nil, noon))
	require.NoError(t, err)
	_, err = text.Verify(nil, token, codectest.At(nil, noon))
	require.ErrorIs(t, err, codecs.ErrUnsupported)

	token, err = asJSON.MintEdited(nil, nil, []byte("1"), codectest.At(nil, noon), func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			return []byte(`{"exp":2e9}`)
		}
		return value
	})
	require.NoError(t, err)
	got, err := asJSON.Verify(nil, token, codectest.At(nil, noon))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestTTL(t *testing.T) {
	for _, ttl := range []time.Duration{0, -time.Second} {
		_, err := mcpts.Design.OpenScheme(codecs.Config{Secrets: [][]byte{key}, TTL: &ttl})
		require.ErrorContains(t, err, "must be positive")
	}
	s := open(t, asSDK, 0, nil)
	token, err := s.Mint(nil, []byte("s"), codectest.At(nil, noon))
	require.NoError(t, err)
	_, err = s.Verify(nil, token, codectest.At(nil, noon.Truncate(time.Second).Add(time.Second-1)))
	require.NoError(t, err)
	_, err = s.Verify(nil, token, codectest.At(nil, noon.Truncate(time.Second).Add(time.Second)))
	require.Error(t, err)
}

// TestBindings checks that bind=request distinguishes all contexts that differ.
func TestBindings(t *testing.T) {
	s := open(t, mcpts.Design, time.Minute, map[string]string{"bind": "request"})
	empty, null := "", "null"
	all := []codecs.Context{
		{}, {Method: "a"}, {Target: "a"}, {Method: `","`}, {Principal: &empty}, {Principal: &null}, {Audience: &empty}, {Audience: &null},
		{Method: "a", Arguments: json.RawMessage(`1`)}, {Method: "a", Arguments: json.RawMessage(`1.0`)},
	}
	for i := range all {
		token, err := s.Mint(nil, []byte("s"), codectest.At(&all[i], noon))
		require.NoError(t, err)
		for j := range all {
			_, err := s.Verify(nil, token, codectest.At(&all[j], noon))
			require.Equal(t, i == j, err == nil, "minted for %d, presented for %d", i, j)
		}
	}
	for _, bad := range []codecs.Context{{Method: "\xff"}, {Arguments: json.RawMessage(`{`)}} {
		_, err := s.Mint(nil, []byte("s"), codectest.At(&bad, noon))
		require.ErrorIs(t, err, codecs.ErrUnsupported)
	}
}
