package attack

import (
	"encoding/json"
	"slices"
	"time"

	"sealab/codecs"
)

// epoch is the time at which attacks mint and verify. It has a fraction of a second, and no
// special alignment.
var epoch = time.Unix(1795176123, 250_000_000).UTC()

// Ordinary returns the context of an ordinary request.
func Ordinary() codecs.Context {
	return codecs.Context{
		Method: "tools/call", Target: "deploy", Arguments: json.RawMessage(`{"env":"staging","replicas":3}`),
		Principal: new("alice"), Audience: new("laboratory"), Now: epoch,
	}
}

// Poorer returns contexts with fewer fields, for schemes that do not carry every field.
func Poorer(c codecs.Context) []codecs.Context {
	return []codecs.Context{
		With(c, func(c *codecs.Context) { c.Audience = nil }),
		With(c, func(c *codecs.Context) { c.Principal = nil }),
		With(c, func(c *codecs.Context) { c.Audience, c.Principal = nil, nil }),
		With(c, func(c *codecs.Context) { c.Audience, c.Principal, c.Arguments = nil, nil, nil }),
	}
}

// With returns the context after a change.
func With(c codecs.Context, change func(*codecs.Context)) codecs.Context {
	c.Arguments = slices.Clone(c.Arguments)
	change(&c)
	return c
}

// Later returns the context with a later time.
func Later(c codecs.Context, d time.Duration) codecs.Context {
	return With(c, func(c *codecs.Context) { c.Now = c.Now.Add(d) })
}
