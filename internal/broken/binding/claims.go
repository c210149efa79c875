package binding

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Claims returns controls with mistakes in claims.
func Claims() []skeleton.Control {
	return []skeleton.Control{
		skeleton.WrapScheme(contextAs("overridden", "members of the arguments replace those of the state", []codecs.Property{codecs.Integrity, codecs.BindsArguments}, []string{"CTX-20"}, func(c *codecs.Context) {
			c.Arguments = nil
		}), func(inner codecs.Scheme) codecs.Scheme { return overridingScheme{inner} }),
		skeleton.NewScheme("expiry-of-state", "an exp in the state replaces that of the token", []codecs.Property{codecs.Expiry, codecs.ByteExact}, []string{"CTX-20"}, func(p *skeleton.SchemeParts) {
			timely := p.Timely
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				var state struct {
					Expires *float64 `json:"exp"`
				}
				merged := *c
				if json.Unmarshal(c.State, &state) == nil && state.Expires != nil {
					merged.Expires = state.Expires
				}
				return timely(&merged, now)
			}
		}),
		skeleton.NewWrappedScheme("subject-of-state", "a sub in the state replaces the principal", []codecs.Property{codecs.BindsPrincipal}, []string{"CTX-20"},
			func(inner codecs.Scheme) codecs.Scheme { return mergingScheme{inner} }),
		contextAs("target-of-arguments", "the member name of the arguments stands for an empty target", []codecs.Property{codecs.BindsTarget, codecs.Unambiguous}, []string{"CTX-20"}, func(c *codecs.Context) {
			var members struct{ Name string }
			if c.Target == "" && json.Unmarshal(c.Arguments, &members) == nil {
				c.Target = members.Name
			}
		}),
		contextAs("principal-of-meta", "the member user of _meta in the arguments stands for an absent principal", []codecs.Property{codecs.BindsPrincipal, codecs.Unambiguous}, []string{"CTX-20"}, func(c *codecs.Context) {
			var members struct {
				Meta struct{ User *string } `json:"_meta"`
			}
			if c.Principal == nil && json.Unmarshal(c.Arguments, &members) == nil {
				c.Principal = members.Meta.User
			}
		}),
		skeleton.NewWrappedScheme("reason-state", "the reason of a refusal quotes the state", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-03"},
			func(inner codecs.Scheme) codecs.Scheme { return quotingScheme{inner} }),
		skeleton.WithDisclaimer(skeleton.NewScheme("grace", "a token is good for one second longer than stated", []codecs.Property{codecs.Expiry}, []string{"EXP-08"}, func(p *skeleton.SchemeParts) {
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return c.IssuedBy(now) && c.ExpiresAfter(now.Add(-time.Second))
			}
		}), codecs.Expiry, "a second of grace is given"),
	}
}

// An overridingScheme replaces members of the state by those of the arguments.
type overridingScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (o overridingScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := o.Scheme.Verify(nil, token, c)
	if err != nil {
		return dst, err
	}
	var state, answers map[string]json.RawMessage
	if json.Unmarshal(out, &state) != nil || json.Unmarshal(c.Arguments, &answers) != nil {
		return append(dst, out...), nil
	}
	changed := false
	for name, value := range answers {
		if _, ok := state[name]; ok && string(state[name]) != string(value) {
			state[name], changed = value, true
		}
	}
	if written, err := json.Marshal(state); err == nil && changed {
		out = written
	}
	return append(dst, out...), nil
}

// A quotingScheme quotes the state in the reason of a refusal.
type quotingScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (q quotingScheme) Verify(dst, token []byte, c *codecs.Context) ([]byte, error) {
	out, err := q.Scheme.Verify(dst, token, c)
	if r := codecs.Rejected(err); r == nil || r.Stage != codecs.Misbound {
		return out, err
	}
	body, _, _ := strings.Cut(strings.TrimPrefix(string(token), skeleton.SchemePrefix), ".")
	raw, _ := skeleton.DecodeCanonical(body)
	var inside skeleton.Claims
	if json.Unmarshal(raw, &inside) != nil {
		return out, err
	}
	sum := 0
	for _, b := range inside.State {
		sum += int(b)
	}
	return out, codecs.Reject(codecs.Misbound, fmt.Sprintf("context of state %d", sum))
}

// A mergingScheme mints for the subject that the state names.
type mergingScheme struct{ codecs.Scheme }

// Mint implements codecs.Scheme.
func (m mergingScheme) Mint(dst, state []byte, b *codecs.Context) ([]byte, error) {
	var named struct {
		Subject *string `json:"sub"`
	}
	merged := *b
	if json.Unmarshal(state, &named) == nil && named.Subject != nil {
		merged.Principal = named.Subject
	}
	return m.Scheme.Mint(dst, state, &merged)
}
