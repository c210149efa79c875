package mcpd_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/mcpd"
	"sealab/internal/lab"
)

// designs holds both modes in both readings.
var designs = []codecs.Design{with("signed", "strict"), with("encrypted", "strict"), with("signed", "sdk"), with("encrypted", "sdk")}

func with(mode, reading string) codecs.Design {
	d := lab.With(mcpd.Design, map[string]string{"mode": mode, "reading": reading})
	d.Name += "-" + mode + "-" + reading
	return d
}

func TestConformance(t *testing.T) {
	codectest.Run(t, mcpd.Design)
}

var noon = time.Unix(1_795_132_800, 750_000_000)

func open(t *testing.T, d codecs.Design, bind string) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(codecs.Config{Secrets: [][]byte{[]byte("thirty-two bytes for tests only!")}, Options: map[string]string{"bind": bind}})
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

func as(subject, tool string) *codecs.Context {
	return &codecs.Context{Principal: &subject, Target: tool}
}

// TestClaims presents various authentic claims.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		change       func(tag string) string
		want, strict string // "" if the token is accepted
	}{
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":1795132800}` }, "", ""},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":1795132799}` }, "expired", "expired"},
		{func(b string) string { return `{"exp":1795132800,"s":"s","b":"` + b + `"}` }, "", "malformed"},
		{func(b string) string { return ` { "s" : "\u0073","b":"` + b + `","exp":9223372036854775807, } ` }, "", "malformed"},
		{func(b string) string {
			return `{"s":"s","b":"` + b + `","exp":1795132800}` + " \v\f\u0085\u00a0\u2028\u3000\n"
		}, "", "malformed"},
		{func(b string) string { return "\u00a0" + `{"s":"s","b":"` + b + `","exp":1795132800}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + "\",\v\"exp\":1795132800}" }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":1795132800}` + "\u200b" }, "malformed", "malformed"},
		{func(b string) string {
			return `{"s":"s","b":"` + b + `","exp":1795132800,"x":[1.,-0.e5,1e400,"\ud83dxude00"]}`
		}, "", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":1795132800.}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","s":"s","b":"` + b + `","exp":1795132800}` }, "", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":9223372036854775808}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":1e10}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `","exp":"1795132800"}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"s","b":"` + b + `"}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":1,"b":"` + b + `","exp":1795132800}` }, "malformed", "malformed"},
		{func(b string) string { return `{"s":"\ud800","b":"` + b + `","exp":1795132800}` }, "malformed", "malformed"},
		{func(b string) string { return "{\"s\":\"\xff\",\"b\":\"" + b + "\",\"exp\":1795132800}" }, "malformed", "malformed"},
		{func(string) string { return `{"s":"s","b":"","exp":1795132800}` }, "bind", "bind"},
		{func(string) string { return `[]` }, "malformed", "malformed"},
		{func(string) string { return `` }, "malformed", "malformed"},
	} {
		for _, d := range designs {
			want := c.strict
			if strings.HasSuffix(d.Name, "sdk") {
				want = c.want
			}
			s := open(t, d, "authSubject")
			var tag string
			token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), nil, codectest.At(as("alice", "deploy"), noon), func(step lab.Step, value []byte) []byte {
				switch step {
				case lab.StepBind:
					tag = string(value)
				case lab.StepClaims:
					return []byte(c.change(tag))
				}
				return value
			})
			require.NoError(t, err)
			state, err := s.Verify(nil, token, codectest.At(as("alice", "deploy"), noon))
			codectest.RequireReason(t, want, err, "%s: %s", d.Name, c.change(tag))
			if want == "" {
				require.Equal(t, "s", string(state))
			}
		}
	}
}

func TestStateIsEscapedAsInTheSDK(t *testing.T) {
	s := open(t, mcpd.Design, "none")
	token, err := s.Mint(nil, []byte("</script>/\"\\\b\f\n\r\t\x00\x1f\x7fé\u2028"), codectest.At(nil, noon))
	require.NoError(t, err)
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(string(token), ".")[1])
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(claims), `{"s":"<\/script>/\"\\\u0008\u000C\n\r\t\u0000\u001F`+"\x7fé\u2028"+`","b":"`), "%s", claims)
}

// TestPublishedTagIsAMAC exploits the weakness of the signed mode. It combines
// two tokens, one of them for a subject that is itself claims, to a token for
// any state.
func TestPublishedTagIsAMAC(t *testing.T) {
	s := open(t, mcpd.Design, "authSubject")
	tagOf := func(subject string) string {
		token, err := s.Mint(nil, []byte("honest"), codectest.At(as(subject, ""), noon))
		require.NoError(t, err)
		claims, err := base64.RawURLEncoding.DecodeString(strings.Split(string(token), ".")[1])
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(claims), `"b":"`)
		return after[:64]
	}
	forged := fmt.Sprintf(`{"s":"evil","b":"%s","exp":9999999999}`, tagOf("mallory"))
	mac, err := hex.DecodeString(tagOf(forged))
	require.NoError(t, err)
	token := "v1." + base64.RawURLEncoding.EncodeToString([]byte(forged)) + "." + base64.RawURLEncoding.EncodeToString(mac)
	state, err := s.Verify(nil, []byte(token), codectest.At(as("mallory", ""), noon))
	require.NoError(t, err, "the format has changed: correct what the design states")
	require.Equal(t, "evil", string(state))
}

// TestBindings checks which contexts the bindings distinguish.
func TestBindings(t *testing.T) {
	for bind, accepted := range map[string][4]bool{ // other subject, other tool, NUL moved, no principal for an empty one
		"authSubject":        {false, true, false, true},
		"authSubjectAndTool": {false, false, true, true},
		"none":               {true, true, true, true},
	} {
		for _, d := range designs {
			s := open(t, d, bind)
			for i, c := range []struct{ minted, presented *codecs.Context }{
				{as("alice", "t"), as("bob", "t")},
				{as("alice", "t"), as("alice", "u")},
				{as("a\x00b", "c"), as("a", "b\x00c")},
				{as("", "t"), &codecs.Context{Target: "t"}},
			} {
				token, err := s.Mint(nil, []byte("s"), codectest.At(c.minted, noon))
				require.NoError(t, err)
				_, err = s.Verify(nil, token, codectest.At(c.presented, noon))
				require.Equal(t, accepted[i], err == nil, "%s, bind=%s, case %d", d.Name, bind, i)
			}
		}
	}
}
