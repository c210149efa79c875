package vectors

import (
	"encoding/json"
	"unicode/utf8"

	"sealab/codecs"
)

// BindingOf returns b as vectors write it. It reports false where a text of b
// is not UTF-8, which JSON cannot carry.
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

// Codecs returns b as the contract has it. A nil binding is the zero binding.
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
