package attack

import (
	"encoding/json"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// A field is one field of a binding.
type field struct {
	name     string
	property codecs.Property
	get      func(*verdict.Context) (value string, present bool)
	set      func(*verdict.Context, string)
	// unset removes the field; nil where it cannot be absent.
	unset func(*verdict.Context)
}

// fields are the fields of a binding, in its order.
var fields = []field{
	{"method", codecs.BindsMethod,
		func(c *verdict.Context) (string, bool) { return c.Method, true },
		func(c *verdict.Context, v string) { c.Method = v }, nil},
	{"target", codecs.BindsTarget,
		func(c *verdict.Context) (string, bool) { return c.Target, true },
		func(c *verdict.Context, v string) { c.Target = v }, nil},
	{"arguments", codecs.BindsArguments,
		func(c *verdict.Context) (string, bool) { return string(c.Arguments), c.Arguments != nil },
		func(c *verdict.Context, v string) { c.Arguments = json.RawMessage(v) },
		func(c *verdict.Context) { c.Arguments = nil }},
	{"principal", codecs.BindsPrincipal,
		func(c *verdict.Context) (string, bool) { return deref(c.Principal) },
		func(c *verdict.Context, v string) { c.Principal = &v },
		func(c *verdict.Context) { c.Principal = nil }},
	{"audience", codecs.BindsAudience,
		func(c *verdict.Context) (string, bool) { return deref(c.Audience) },
		func(c *verdict.Context, v string) { c.Audience = &v },
		func(c *verdict.Context) { c.Audience = nil }},
}

func deref(s *string) (string, bool) {
	if s == nil {
		return "", false
	}
	return *s, true
}

// put returns the context with a field set.
func (f field) put(c verdict.Context, value string) verdict.Context {
	return with(c, func(c *verdict.Context) { f.set(c, value) })
}

// without returns the context without a field.
func (f field) without(c verdict.Context) verdict.Context { return with(c, f.unset) }

// unrelated are values that have nothing in common with the ordinary ones.
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

// binds reports whether the subject refuses tok once the field is something else.
func (t *Trial) binds(p *Party, tok *Token, f field) bool {
	for _, v := range f.unrelated()[:1] {
		if _, ok := p.accepts(tok.Text, f.put(tok.Under, v)); ok {
			return false
		}
	}
	return true
}
