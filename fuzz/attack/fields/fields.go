// Package fields has the fields of a context that a token is bound to, and contexts that differ
// in them.
package fields

import (
	"encoding/json"
	"fmt"
	"strings"

	"sealab/codecs"
	"sealab/fuzz/attack"
)

// A Field is one field of a context that a token is bound to.
type Field struct {
	Name     string
	Property codecs.Property
	Get      func(*codecs.Context) (value string, present bool)
	set      func(*codecs.Context, string)
	unset    func(*codecs.Context) // nil if the field cannot be absent
}

// The fields. Method and target are never absent.
var (
	Method = Field{"method", codecs.BindsMethod,
		func(c *codecs.Context) (string, bool) { return c.Method, true },
		func(c *codecs.Context, v string) { c.Method = v }, nil}
	Target = Field{"target", codecs.BindsTarget,
		func(c *codecs.Context) (string, bool) { return c.Target, true },
		func(c *codecs.Context, v string) { c.Target = v }, nil}
	Arguments = Field{"arguments", codecs.BindsArguments,
		func(c *codecs.Context) (string, bool) { return string(c.Arguments), c.Arguments != nil },
		func(c *codecs.Context, v string) { c.Arguments = json.RawMessage(v) },
		func(c *codecs.Context) { c.Arguments = nil }}
	Principal = Field{"principal", codecs.BindsPrincipal,
		func(c *codecs.Context) (string, bool) { return deref(c.Principal) },
		func(c *codecs.Context, v string) { c.Principal = &v },
		func(c *codecs.Context) { c.Principal = nil }}
	Audience = Field{"audience", codecs.BindsAudience,
		func(c *codecs.Context) (string, bool) { return deref(c.Audience) },
		func(c *codecs.Context, v string) { c.Audience = &v },
		func(c *codecs.Context) { c.Audience = nil }}
)

// All are all fields, in the order of the context.
var All = []Field{Method, Target, Arguments, Principal, Audience}

// Properties are the properties of the fields.
var Properties = []codecs.Property{codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments, codecs.BindsPrincipal, codecs.BindsAudience}

func deref(s *string) (string, bool) {
	if s == nil {
		return "", false
	}
	return *s, true
}

// Put returns the context with the field set.
func (f Field) Put(c codecs.Context, value string) codecs.Context {
	return attack.With(c, func(c *codecs.Context) { f.set(c, value) })
}

// Optional reports whether the field can be absent.
func (f Field) Optional() bool { return f.unset != nil }

// Without returns the context without the field.
func (f Field) Without(c codecs.Context) codecs.Context { return attack.With(c, f.unset) }

// Value returns a value of the field made from s. For arguments it is an object with s as a
// member.
func (f Field) Value(s string) string {
	if f.Property != codecs.BindsArguments {
		return s
	}
	return `{"v":` + QuoteJSON(s) + `}`
}

// QuoteJSON encodes s as a JSON string and leaves <, > and & as they are.
func QuoteJSON(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("fields: " + err.Error()) // every string can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unrelated returns unrelated values with the ordinary ones.
func (f Field) Unrelated() []string {
	switch f.Property {
	case codecs.BindsMethod:
		return []string{"prompts/get", "resources/read"}
	case codecs.BindsArguments:
		return []string{`{"q":"zzz"}`, `{"env":"production","replicas":3}`, `{"env":"staging","replicas":4}`, `{"env":"staging"}`,
			`{"env":"staging","replicas":3,"force":true}`, `{"env":"staging","replicas":"3"}`, `{"Env":"staging","replicas":3}`, `{"env":"staging","replicas":[3]}`}
	default:
		return []string{"zzz-unrelated", "mallory", "0", "admin", "*"}
	}
}

// Binds reports whether the design refuses tok if the field is changed.
func (f Field) Binds(in *attack.Instance, tok *attack.Token) bool {
	_, ok := in.Accepts(tok.Text, f.Put(tok.Under, f.Unrelated()[0]))
	return !ok
}

// OtherMethods are methods for which a reader may process a field differently.
var OtherMethods = []string{"resources/read", "prompts/get", "x/unknown"}

// Reduced returns copies of c that lack one, two or all three of the optional fields.
func Reduced(c codecs.Context) []codecs.Context {
	var all []codecs.Context
	for absent := 1; absent < 8; absent++ {
		less := c
		for i, f := range All[2:] {
			if absent&(1<<i) != 0 {
				less = f.Without(less)
			}
		}
		all = append(all, less)
	}
	return all
}

// Describe formats a context for a person.
func Describe(c codecs.Context) string {
	show := func(s *string) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprintf("%+.40q", *s)
	}
	return fmt.Sprintf("(method %+.40q, target %+.40q, arguments %+.40q, principal %s, audience %s)", c.Method, c.Target, c.Arguments, show(c.Principal), show(c.Audience))
}
