package attacks

import (
	"encoding/json"

	"sealab/codecs"
	"sealab/fuzz/attack"
)

// A field is one field of a context that a token is bound to.
type field struct {
	name     string
	property codecs.Property
	get      func(*codecs.Context) (value string, present bool)
	set      func(*codecs.Context, string)
	// unset removes the field. It is nil if the field cannot be absent.
	unset func(*codecs.Context)
}

// Indexes into fields.
const (
	methodIndex = iota
	targetIndex
	argumentsIndex
	principalIndex
	audienceIndex
)

// contextFields are the fields that a token is bound to.
var contextFields = []field{
	{"method", codecs.BindsMethod,
		func(c *codecs.Context) (string, bool) { return c.Method, true },
		func(c *codecs.Context, v string) { c.Method = v }, nil},
	{"target", codecs.BindsTarget,
		func(c *codecs.Context) (string, bool) { return c.Target, true },
		func(c *codecs.Context, v string) { c.Target = v }, nil},
	{"arguments", codecs.BindsArguments,
		func(c *codecs.Context) (string, bool) { return string(c.Arguments), c.Arguments != nil },
		func(c *codecs.Context, v string) { c.Arguments = json.RawMessage(v) },
		func(c *codecs.Context) { c.Arguments = nil }},
	{"principal", codecs.BindsPrincipal,
		func(c *codecs.Context) (string, bool) { return deref(c.Principal) },
		func(c *codecs.Context, v string) { c.Principal = &v },
		func(c *codecs.Context) { c.Principal = nil }},
	{"audience", codecs.BindsAudience,
		func(c *codecs.Context) (string, bool) { return deref(c.Audience) },
		func(c *codecs.Context, v string) { c.Audience = &v },
		func(c *codecs.Context) { c.Audience = nil }},
}

func deref(s *string) (string, bool) {
	if s == nil {
		return "", false
	}
	return *s, true
}

// put returns the context with the field set.
func (f field) put(c codecs.Context, value string) codecs.Context {
	return attack.With(c, func(c *codecs.Context) { f.set(c, value) })
}

// without returns the context without the field.
func (f field) without(c codecs.Context) codecs.Context { return attack.With(c, f.unset) }

// value returns a value of the field made from s. For arguments it is an object with s as a
// member.
func (f field) value(s string) string {
	if f.property != codecs.BindsArguments {
		return s
	}
	return `{"v":` + quoteJSON(s) + `}`
}

// unrelated returns values that have nothing in common with the ordinary ones.
func (f field) unrelated() []string {
	switch f.property {
	case codecs.BindsMethod:
		return []string{"prompts/get", "resources/read"}
	case codecs.BindsArguments:
		return []string{`{"q":"zzz"}`, `{"env":"production","replicas":3}`, `{"env":"staging","replicas":4}`, `{"env":"staging"}`,
			`{"env":"staging","replicas":3,"force":true}`, `{"env":"staging","replicas":"3"}`, `{"Env":"staging","replicas":3}`, `{"env":"staging","replicas":[3]}`}
	default:
		return []string{"zzz-unrelated", "mallory", "0", "admin", "*"}
	}
}

// binds reports whether the design refuses tok if the field is changed.
func (t trial) binds(in *attack.Instance, tok *attack.Token, f field) bool {
	_, ok := in.Accepts(tok.Text, f.put(tok.Under, f.unrelated()[0]))
	return !ok
}
