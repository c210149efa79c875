package targets

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/fuzz/program"
)

// TestClaimsEdits checks the edits of claims that are JSON.
func TestClaimsEdits(t *testing.T) {
	const claims = `{"v":1,"iat":2}`
	for _, c := range []struct{ name, got, want string }{
		{"escape", string(escapeAt([]byte(claims), 2)), `{"\u0076":1,"iat":2}`},
		{"escape at the end", string(escapeAt([]byte(claims), len(claims))), claims},
		{"twice", string(repeatName([]byte(claims), 0, "9")), `{"v":9,"v":1,"iat":2}`},
		{"twice, the second member", string(repeatName([]byte(claims), 3, "9")), `{"v":1,"iat":9,"iat":2}`},
		{"twice, without a member", string(repeatName([]byte(claims), len(claims), "9")), claims},
		{"revalue", string(replaceValue([]byte(claims), 0, "[]")), `{"v":[],"iat":2}`},
		{"revalue, the last", string(replaceValue([]byte(claims), 7, "[]")), `{"v":1,"iat":[]}`},
		{"revalue, without a value", string(replaceValue([]byte("{}"), 0, "[]")), "{}"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, c.got) })
	}
}

// TestMustRefuse compares contexts place by place. Absent and empty must differ.
func TestMustRefuse(t *testing.T) {
	binds := func(p codecs.Property) *instance {
		return newInstance(codecs.Design{Guarantees: func(map[string]string) []codecs.Guarantee {
			return []codecs.Guarantee{{Property: p, Holds: true}}
		}})
	}
	for _, c := range []struct {
		name   string
		binds  codecs.Property
		change func(*codecs.Context)
		want   bool
	}{
		{"same", codecs.BindsMethod, func(*codecs.Context) {}, false},
		{"method", codecs.BindsMethod, func(c *codecs.Context) { c.Method = "tools" }, true},
		{"target, not bound", codecs.BindsMethod, func(c *codecs.Context) { c.Target = "other" }, false},
		{"arguments", codecs.BindsArguments, func(c *codecs.Context) { c.Arguments = json.RawMessage(`{}`) }, true},
		{"principal absent", codecs.BindsPrincipal, func(c *codecs.Context) { c.Principal = nil }, true},
		{"principal empty", codecs.BindsPrincipal, func(c *codecs.Context) { c.Principal = new("") }, true},
		{"audience", codecs.BindsAudience, func(c *codecs.Context) { c.Audience = new("srv2") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := program.Context
			c.change(&other)
			_, must := binds(c.binds).mustRefuse(&program.Context, &other)
			require.Equal(t, c.want, must)
		})
	}
}

// TestAgeOf reads ages before minting, during the life of a token, and at its borders.
func TestAgeOf(t *testing.T) {
	for _, c := range []struct {
		seconds, fraction int
		want              string
	}{
		{0, 0, "-2m0s"}, {121, 500, "1.5s"}, {2000, 2, "10m0.000001s"}, {2001, 2, "9m59.999999s"}, {2007, 0, "0s"}, {1327, 6, "-1s"},
	} {
		var w program.Writer
		require.Equal(t, c.want, ageOf(program.New(w.Uint16(c.seconds).Uint16(c.fraction).Program())).String())
	}
}

// TestServingListener checks that answers without an outcome, or of more than one line of JSON,
// are refused.
func TestServingListener(t *testing.T) {
	for answer, want := range map[string]string{
		`{"ok":true}` + "\n":                           "",
		`{"ok":false,"rejected":"unauthentic"}` + "\n": "",
		`{"ok":true}`:                                  "not one line of JSON",
		`{"ok":true}` + "\n\n":                         "not one line of JSON",
		"{\n":                                          "not one line of JSON",
		`{"ok":false}` + "\n":                          "does not say",
	} {
		var l answerCounter
		_, err := l.Write([]byte(answer))
		if want == "" {
			require.NoError(t, err, answer)
		} else {
			require.ErrorContains(t, err, want, answer)
		}
		require.Equal(t, 1, l.answers)
	}
}
