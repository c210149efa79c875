package signedjson

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
	t.Run("php", func(t *testing.T) { codectest.Run(t, PHP) })
	t.Run("run", func(t *testing.T) { codectest.Run(t, Run) })
	t.Run("swift", func(t *testing.T) { codectest.Run(t, Swift) })
}

var (
	noon = time.Unix(1_795_164_472, 750_000_000)
	ks   = bytes.Repeat([]byte("k"), 32)
)

func opened(t *testing.T, d codecs.Design, options map[string]string) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(codecs.Config{Secrets: [][]byte{ks}, TTL: new(time.Minute), Options: options})
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// withClaims returns a token with these claims.
func withClaims(t *testing.T, s lab.SchemeAssembler, claims string) string {
	t.Helper()
	token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), []byte(`{}`), &codecs.Context{Now: noon}, func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			return []byte(claims)
		}
		return value
	})
	require.NoError(t, err)
	return string(token)
}

// reason returns the reason of a refusal, "unsupported", or "" for a state.
func reason(t *testing.T, s codecs.Scheme, token string) string {
	t.Helper()
	_, err := s.Verify(nil, []byte(token), &codecs.Context{Now: noon})
	if r := codecs.Rejected(err); r != nil {
		return r.Reason
	}
	if err != nil {
		require.ErrorIs(t, err, codecs.ErrUnsupported)
		return "unsupported"
	}
	return ""
}

// TestSwiftVector presents a token that was computed independently, with hmac
// and hashlib of Python, and its other encodings.
func TestSwiftVector(t *testing.T) {
	const token = "eyJpYXQiOjE3OTUxNjQ0NzIuMjUsImV4cCI6MTc5NTE2NDc3Mi4yNSwicHJpbmNpcGFsIjoiSzlnR3lYOE9BSzhhSDhNeWo2ZGpxU2FYSThqYmo2eFBrNjl4MnhodGJwQSIsInJlcXVlc3REaWdlc3QiOiJKRmFIWWw4N1Y3TDhLTXdVT1BMbTNaVGx5VnM4SkN2a090ZklvV2pHRHlRIiwicmVzcG9uc2VzIjp7ImlucHV0LTEiOiJzXC_DqSJ9fQ.zeF4bEo8kgky0emjAvGsnjqpp-bGMnScvXrKjIsG2p4"
	const minted = 1_795_164_472
	alice := "alice"
	c := &codecs.Context{Now: time.Unix(minted, 250_000_000), Method: "tools/call", Target: "deploy", Arguments: []byte(`{"env":"a/b","a":1.50}`), Principal: &alice}
	five := 5 * time.Minute
	strict, err := newSwift(codecs.Config{Secrets: [][]byte{ks}, TTL: &five})
	require.NoError(t, err)
	sdk, err := newSwift(codecs.Config{Secrets: [][]byte{ks}, TTL: &five, Options: map[string]string{"reading": "sdk"}})
	require.NoError(t, err)
	got, err := strict.Mint(nil, []byte("s/é"), c)
	require.NoError(t, err)
	require.Equal(t, token, string(got))

	for _, spelling := range []string{token, "." + token, token + "=", strings.ReplaceAll(token, "-", "+"), strings.Replace(token, ".", "==.", 1), token[:len(token)-1] + "5"} {
		state, err := sdk.Verify(nil, []byte(spelling), c)
		require.NoError(t, err, spelling)
		require.Equal(t, "s/é", string(state))
		if _, err = strict.Verify(nil, []byte(spelling), c); spelling != token {
			require.NotNil(t, codecs.Rejected(err), spelling)
		}
	}
	c.Now = time.Unix(minted+300, 249_000_000)
	_, err = strict.Verify(nil, []byte(token), c)
	require.NoError(t, err)
	c.Now = time.Unix(minted+300, 250_000_000)
	_, err = strict.Verify(nil, []byte(token), c)
	require.Equal(t, errExpired, codecs.Rejected(err))
}

// TestPHPVector presents a token that the PHP class minted.
func TestPHPVector(t *testing.T) {
	const token = "eyJleHAiOjE3OTUxNjQ1MzIsImRhdGEiOnsic3RlcCI6MX19.jYVV0RXsnL3ADN2dYNJa9pSbG4QQvGSuUQZGrXfFQM4"
	s := opened(t, PHP, map[string]string{"reading": "sdk"})
	require.Equal(t, token, withClaims(t, s, `{"exp":1795164532,"data":{"step":1}}`))
	require.Equal(t, "unsupported", reason(t, s, token), "accepted, without a text")
	require.Equal(t, "malformed", reason(t, opened(t, PHP, nil), token))
}

// TestPHPSpellings presents a token with other encodings of its mac.
func TestPHPSpellings(t *testing.T) {
	sdk, strict := opened(t, PHP, map[string]string{"reading": "sdk"}), opened(t, PHP, nil)
	minted, err := sdk.Mint(nil, []byte("s"), &codecs.Context{Now: noon})
	require.NoError(t, err)
	token := string(minted)
	body, tag, _ := strings.Cut(token, ".")
	last := strings.IndexByte(alphabet, tag[len(tag)-1])
	for name, c := range map[string]struct{ token, want string }{
		"sound": {token, ""}, "padded": {token + "=", ""}, "padded twice": {token + "==", "mac"}, "LF": {token + "\n", ""},
		"white space": {body + ".\t" + tag[:5] + " \r" + tag[5:], ""}, "FF": {token + "\f", "mac"}, "NUL": {token + "\x00", "mac"},
		"spare bits": {token[:len(token)-1] + alphabet[last^1:last^1+1], ""}, "other alphabet": {body + "." + strings.NewReplacer("-", "+", "_", "/").Replace(tag), ""},
		"space in the body": {" " + token, "mac"}, "one part": {body, "malformed"}, "three parts": {token + ".", "malformed"}, "padding inside": {body + "." + tag[:4] + "=" + tag[4:], "mac"},
	} {
		require.Equal(t, c.want, reason(t, sdk, c.token), name)
		if c.token != token {
			require.NotEmpty(t, reason(t, strict, c.token), name)
		}
	}
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// TestPHPClaims presents authentic claims.
func TestPHPClaims(t *testing.T) {
	sdk, strict := opened(t, PHP, map[string]string{"reading": "sdk"}), opened(t, PHP, nil)
	for _, c := range []struct{ claims, sdk, strict string }{
		{`{"exp":1795164472,"data":{"s":"x"}}`, "", ""},
		{`{"exp":1795164471,"data":{"s":"x"}}`, "expired", "expired"},
		{` {"data":{"s":"\u0078"},"exp":1795164472,"more":1} `, "", "malformed"},
		{`{"exp":1,"exp":1795164472,"data":{"s":"x"}}`, "", "malformed"},
		{`{"exp":1795164472.0,"data":{"s":"x"}}`, "malformed", "malformed"},
		{`{"exp":-0,"data":{"s":"x"}}`, "expired", "malformed"},
		{`{"exp":9223372036854775808,"data":{"s":"x"}}`, "malformed", "malformed"},
		{`{"exp":1795164472,"data":"x"}`, "malformed", "malformed"},
		{`{"exp":1795164472,"data":[]}`, "unsupported", "malformed"},
		{`{"exp":1795164472,"data":{"s":"\ud800"}}`, "malformed", "malformed"},
		{"{\"exp\":1795164472,\"data\":{\"s\":\"\xff\"}}", "malformed", "malformed"},
		{`[]`, "malformed", "malformed"},
		{``, "malformed", "malformed"},
	} {
		require.Equal(t, c.sdk, reason(t, sdk, withClaims(t, sdk, c.claims)), c.claims)
		require.Equal(t, c.strict, reason(t, strict, withClaims(t, strict, c.claims)), c.claims)
	}
}

// TestRunClaims presents authentic claims. The reasons are those of the library.
func TestRunClaims(t *testing.T) {
	const head, tail = `{"algorithm":"HS256","expiresAtMs":`, `,"nonce":"000102030405060708090a0b0c0d0e0f","state":{"s":"x"},"version":1}`
	const times = `1795164472751,"format":"run-continuation","issuedAtMs":1795164472000`
	s := opened(t, Run, nil)
	for claims, want := range map[string]string{
		head + times + tail: "",
		head + `1795164472750,"format":"run-continuation","issuedAtMs":1795164472000` + tail: "Continuation has expired.",
		head + `1795164592750,"format":"run-continuation","issuedAtMs":1795164532751` + tail: "Continuation was issued in the future.",
		head + `1795164592751,"format":"run-continuation","issuedAtMs":1795164532750` + tail: "Continuation lifetime is invalid.",
		head + `1,"format":"run-continuation","issuedAtMs":1` + tail:                         "Continuation envelope is invalid.",
		head + `9007199254740992,"format":"run-continuation","issuedAtMs":1` + tail:          "Continuation envelope is invalid.",
		" " + head + times + tail:                                   "Continuation payload is not canonically encoded.",
		strings.Replace(head+times+tail, `"x"`, `1e400`, 1):         "Continuation contains a non-JSON value.",
		strings.Replace(head+times+tail, `"x"`, `-0`, 1):            "Continuation payload is not canonically encoded.",
		strings.Replace(head+times+tail, `"x"`, "\"\xff\"", 1):      "Continuation payload is not canonically encoded.",
		strings.Replace(head+times+tail, `"s":"x"`, `"t":"x"`, 1):   "unsupported",
		strings.Replace(head+times+tail, `{"s":"x"}`, `null`, 1):    "Continuation envelope is invalid.",
		strings.Replace(head+times+tail, `0e0f`, `0E0F`, 1):         "Continuation envelope is invalid.",
		strings.Replace(head+times+tail, `{"alg`, `{"a":0,"alg`, 1): "Continuation envelope is invalid.",
		`{`: "Continuation payload is malformed.",
	} {
		require.Equal(t, want, reason(t, s, withClaims(t, s, claims)), claims)
	}
	for token, want := range map[string]string{
		"": "Continuation token is malformed.", ".a": "Continuation token is malformed.", "a.b": "Continuation payload is malformed.",
		"ab=.": "Continuation payload is malformed.", "YQ.!": "Continuation signature is invalid.", "YQ.": "Continuation signature is invalid.",
	} {
		require.Equal(t, want, reason(t, s, token), token)
	}
}

// TestRunJSON checks that members are signed in the order of UTF-16 code units,
// and returned in the order of JavaScript.
func TestRunJSON(t *testing.T) {
	s := opened(t, Run, map[string]string{"payload": "json"})
	token, err := s.Mint(nil, []byte(`{"\uffff":1,"😀":2,"b":[1.0,-0],"10":0,"9":0,"b":3}`), &codecs.Context{Now: noon})
	require.NoError(t, err)
	state, err := s.Verify(nil, token, &codecs.Context{Now: noon})
	require.NoError(t, err)
	require.Equal(t, "{\"9\":0,\"10\":0,\"b\":3,\"😀\":2,\"\uffff\":1}", string(state))
	for _, state := range []string{`{`, `[1e400]`, "\"\xff\""} {
		_, err := s.Mint(nil, []byte(state), &codecs.Context{Now: noon})
		require.ErrorIs(t, err, codecs.ErrUnsupported, state)
	}
}

// TestDepthOfPHP opens nested data up to the default depth of json_decode.
func TestDepthOfPHP(t *testing.T) {
	s := opened(t, PHP, map[string]string{"reading": "sdk"})
	at := &codecs.Context{Now: noon}
	for depth, want := range map[int]bool{511: true, 512: false} {
		token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), []byte("x"), at, func(step lab.Step, value []byte) []byte {
			if step != lab.StepClaims {
				return value
			}
			inner := strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1)
			return []byte(`{"exp":1795164532,"data":{"s":"x"},"more":` + inner + `}`)
		})
		require.NoError(t, err)
		_, err = s.Verify(nil, token, at)
		require.Equal(t, want, err == nil, "depth %d: %v", depth, err)
	}
}
