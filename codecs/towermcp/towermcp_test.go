package towermcp

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/internal/lab"
)

func TestConformance(t *testing.T) {
	t.Run("v1", func(t *testing.T) { codectest.Run(t, V1) })
	t.Run("v2", func(t *testing.T) { codectest.Run(t, V2) })
}

var (
	noon = time.Unix(4_000_000_000, 750_000_000)
	ks   = bytes.Repeat([]byte("k"), 32)
)

func opened(t *testing.T, d codecs.Design, options map[string]string, secrets ...[]byte) lab.SchemeAssembler {
	t.Helper()
	return codectest.Open(t, d, codecs.Config{Secrets: secrets, TTL: new(100 * time.Second), Options: options})
}

func as(principal string) *codecs.Context { return &codecs.Context{Now: noon, Principal: &principal} }

// TestVector presents a token of the crate.
func TestVector(t *testing.T) {
	const token = "v2.5e318f8cf9cbe249.eyJpc3N1ZWRfYXQiOjQwMDAwMDAwMDAsImV4cGlyZXNfYXQiOjQwMDAwMDAxMDAsInN1YmplY3QiOiJhbGljZSIsInN0YXRlIjp7InN0ZXAiOjF9fQ.3O39bj7p1hToAScnNjZs31Wv-euH7BLFVqIR4f6WZzc"
	s := opened(t, V2, map[string]string{"payload": "json"}, ks)
	minted, err := s.Mint(nil, []byte(`{"step":1}`), as("alice"))
	require.NoError(t, err)
	require.Equal(t, token, string(minted))
	state, err := s.Verify(nil, minted, as("alice"))
	require.NoError(t, err)
	require.Equal(t, `{"step":1}`, string(state))
	// The crate ignores the time of issue, which is in the year 2096.
	_, err = s.Verify(nil, minted, &codecs.Context{Now: time.Unix(1, 0), Principal: new("alice")})
	require.NoError(t, err)
}

// TestReasons presents tokens that the crates refuse, with their reasons. The
// last token is one of the TypeScript SDK under the same secret, whose mac is
// valid.
func TestReasons(t *testing.T) {
	const kid = "5e318f8cf9cbe249"
	const typescript = "v1.eyJwIjoiIiwiZXhwIjo0MDAwMDAwMTAwfQ."
	signed := opened(t, V1, nil, ks)
	mac := func(front string) string {
		token, err := signed.MintEdited(nil, nil, nil, as(""), func(step lab.Step, value []byte) []byte {
			switch step {
			case lab.StepPrefix:
				return []byte(front)
			case lab.StepText:
				return nil
			}
			return value
		})
		require.NoError(t, err)
		return string(token)
	}
	for _, c := range []struct{ token, v1, v2, strict string }{
		{"", "Malformed", "UnsupportedVersion", "UnsupportedVersion"},
		{"v2", "Malformed", "Malformed", "Malformed"},
		{"v3.a.b", "UnsupportedVersion", "UnsupportedVersion", "UnsupportedVersion"},
		{"V2.a.b.c", "Malformed", "UnsupportedVersion", "UnsupportedVersion"},
		{"v1.a", "Malformed", "Malformed", "UnsupportedVersion"},
		{"v1.!.!", "Malformed", "Malformed", "UnsupportedVersion"},
		{"v1.!.", "Integrity", "Integrity", "UnsupportedVersion"},
		{"v1..AB", "Malformed", "Malformed", "UnsupportedVersion"},
		{"v2." + kid + ".a", "UnsupportedVersion", "Malformed", "Malformed"},
		{"v2." + kid + ".a.b.c", "Malformed", "Malformed", "Malformed"},
		{"v2.other.a.!", "Malformed", "Integrity", "Integrity"},
		{"v2." + kid + ".a.!", "Malformed", "Malformed", "Malformed"},
		{"v2." + kid + ".a.", "Malformed", "Integrity", "Integrity"},
		{mac("v1.!"), "Malformed", "Malformed", "UnsupportedVersion"},
		{mac("v2." + kid + ".!"), "Malformed", "Malformed", "Malformed"},
		{mac(typescript[:len(typescript)-1]), "Decode", "Decode", "UnsupportedVersion"},
	} {
		for _, of := range []struct {
			design  codecs.Design
			reading string
			want    string
		}{{V1, "sdk", c.v1}, {V2, "sdk", c.v2}, {V2, "strict", c.strict}} {
			_, err := opened(t, of.design, map[string]string{"reading": of.reading}, ks).Verify(nil, []byte(c.token), as(""))
			codectest.RequireReason(t, of.want, err, "%s %s %q", of.design.Name, of.reading, c.token)
		}
	}
}

// TestEnvelopes presents authentic claims. The answers are those of serde_json.
func TestEnvelopes(t *testing.T) {
	const times = `"issued_at":0,"expires_at":4000000000,`
	deep := func(n int, middle string) string { return strings.Repeat("[", n) + middle + strings.Repeat("]", n) }
	for _, c := range []struct{ claims, text, json, strict string }{
		{`{` + times + `"state":"s"}`, "", "", ""},
		{` {` + times + `"state":"s"}` + "\n", "", "", "Decode"},
		{`{"state":"s",` + times + `"subject":null}`, "", "", "Decode"},
		{`{` + times + `"subject":"","state":"s"}`, "SubjectMismatch", "SubjectMismatch", "SubjectMismatch"},
		{`[0,4000000000,null,"s"]`, "", "", "Decode"},
		{`[0,4000000000,null]`, "Decode", "Decode", "Decode"},
		{`[0,4000000000,null,"s",0]`, "Decode", "Decode", "Decode"},
		{`{` + times + `"state":"s","state":"s"}`, "Decode", "Decode", "Decode"},
		{`{` + times + `"state":"s","issued_at":0}`, "Decode", "Decode", "Decode"},
		{`{` + times + `"state":"s","x":1e999,"x":"\ud800` + "\xff" + `"}`, "", "", "Decode"},
		{`{` + times + `"state":"s","x":` + deep(5000, "") + `}`, "", "", "Decode"},
		{`{` + times + `"state":"s","\ud800":0}`, "Decode", "Decode", "Decode"},
		{`{` + times + "\"state\":\"s\",\"\xff\":0}", "Decode", "Decode", "Decode"},
		{`{` + times + `"\u0073tate":"s"}`, "", "", "Decode"},
		{`{` + times + `"state":"\ud800"}`, "Decode", "Decode", "Decode"},
		{`{` + times + `"state":null}`, "Decode", "", "Decode"},
		{`{` + times + `"state":1e400}`, "Decode", "Decode", "Decode"},
		{`{` + times + `"state":` + deep(126, "") + `}`, "Decode", "", "Decode"},
		{`{` + times + `"state":` + deep(127, "") + `}`, "Decode", "Decode", "Decode"},
		{`{"issued_at":0.0,"expires_at":4000000000,"state":"s"}`, "Decode", "Decode", "Decode"},
		{`{"issued_at":-0,"expires_at":4000000000,"state":"s"}`, "Decode", "Decode", "Decode"},
		{`{"issued_at":18446744073709551615,"expires_at":18446744073709551615,"state":"s"}`, "", "", ""},
		{`{"issued_at":18446744073709551616,"expires_at":4000000000,"state":"s"}`, "Decode", "Decode", "Decode"},
		{`{"issued_at":0,"expires_at":4e9,"state":"s"}`, "Decode", "Decode", "Decode"},
		{`{"issued_at":9999999999,"expires_at":4000000000,"state":"s"}`, "", "", "Decode"},
		{`{"issued_at":0,"expires_at":3999999999,"state":"s"}`, "Expired", "Expired", "Expired"},
		{`{"expires_at":3999999999,"state":"s"}`, "Decode", "Decode", "Decode"},
		{"\ufeff{" + times + `"state":"s"}`, "Decode", "Decode", "Decode"},
		{``, "Decode", "Decode", "Decode"},
	} {
		for _, of := range []struct{ payload, reading, want string }{{"text", "sdk", c.text}, {"json", "sdk", c.json}, {"text", "strict", c.strict}} {
			s := opened(t, V2, map[string]string{"payload": of.payload, "reading": of.reading}, ks)
			token := codectest.MintWith(t, s, `"s"`, &codecs.Context{Now: noon}, lab.StepClaims, c.claims)
			_, err := s.Verify(nil, token, &codecs.Context{Now: noon})
			codectest.RequireReason(t, of.want, err, "%v %.200q", of, c.claims)
		}
	}
}

// TestNumbers prints numbers as serde_json does, and refuses those out of range.
func TestNumbers(t *testing.T) {
	for literal, want := range map[string]string{
		"0": "0", "-0": "-0.0", "1.0": "1.0", "1e2": "100.0", "-1": "-1", "18446744073709551615": "18446744073709551615",
		"18446744073709551616": "1.8446744073709552e+19", "-9223372036854775808": "-9223372036854775808",
		"-9223372036854775809": "-9.223372036854776e+18", "1e15": "1000000000000000.0", "1e16": "1e+16", "1.5e300": "1.5e+300", "1e-5": "0.00001", "1e-6": "1e-6", "1.5E-7": "1.5e-7",
		"0e99999999999": "0.0", "-1e-99999999999": "-0.0", "1e308": "1e+308", "5e-324": "5e-324", "1e-400": "0.0",
	} {
		got, ok := appendNumber(nil, []byte(literal))
		require.True(t, ok, literal)
		require.Equal(t, want, string(got), literal)
	}
	for _, literal := range []string{"1e309", "-1e309", "1e99999999999", "123456789012345678901e300"} {
		_, ok := appendNumber(nil, []byte(literal))
		require.False(t, ok, literal)
	}
}

// TestRings checks the crates' rules for key rings.
func TestRings(t *testing.T) {
	second := bytes.Repeat([]byte("2"), 40)
	old, err := opened(t, V1, nil, second).Mint(nil, []byte("old"), as(""))
	require.NoError(t, err)
	// v1 tokens open only under the signing key.
	for want, ring := range map[string][][]byte{"": {second, ks}, "Integrity": {ks, second}} {
		_, err := opened(t, V2, map[string]string{"reading": "sdk"}, ring...).Verify(nil, old, as(""))
		codectest.RequireReason(t, want, err, "%d", len(ring))
	}
	for reading, wrong := range map[string]bool{"strict": true, "sdk": false} {
		for _, c := range []codecs.Config{{Secrets: [][]byte{ks, ks}}, {Secrets: [][]byte{ks}, TTL: new(time.Second - 1)}} {
			c.Options = map[string]string{"reading": reading}
			_, err := V2.OpenScheme(c)
			require.Equal(t, wrong, err != nil, "%s %v", reading, c.TTL)
		}
	}
	_, err = V2.OpenScheme(codecs.Config{Secrets: [][]byte{ks}, TTL: new(time.Duration(0)), Options: map[string]string{"reading": "sdk"}})
	require.Error(t, err)
}

func TestLongTokens(t *testing.T) {
	long := bytes.Repeat([]byte("s"), sdkLimit)
	limited := opened(t, V2, map[string]string{"limit": "64KiB"}, ks)
	_, err := limited.Mint(nil, long, as(""))
	require.ErrorIs(t, err, codecs.ErrUnsupported)
	token, err := opened(t, V2, nil, ks).Mint(nil, long, as(""))
	require.NoError(t, err)
	_, err = limited.Verify(nil, token, as(""))
	codectest.RequireReason(t, "TooLarge", err, "limited")
}
