package vectors

import (
	"encoding/json"
	"unicode/utf8"

	"sealab/codecs"
)

// BindingOf returns b in the form of the vectors. It reports false if a text of
// b is not UTF-8, because JSON cannot carry it.
func BindingOf(b codecs.Context) (*Binding, bool) {
	out := &Binding{Method: b.Method, Target: b.Target, Principal: b.Principal, Audience: b.Audience}
	if b.Arguments != nil {
		raw := string(b.Arguments)
		out.Arguments = &raw
	}
	return out, out.valid()
}

func (b *Binding) valid() bool {
	for _, s := range []*string{&b.Method, &b.Target, b.Arguments, b.Principal, b.Audience} {
		if s != nil && !utf8.ValidString(*s) {
			return false
		}
	}
	return true
}

// Codecs returns b as a codecs.Context. A nil binding gives the zero context.
func (b *Binding) Codecs() codecs.Context {
	if b == nil {
		return codecs.Context{}
	}
	out := codecs.Context{Method: b.Method, Target: b.Target, Principal: b.Principal, Audience: b.Audience}
	if b.Arguments != nil {
		out.Arguments = json.RawMessage(*b.Arguments)
	}
	return out
}
