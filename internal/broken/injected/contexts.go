package injected

import (
	"encoding/json"
	"strings"
	"time"

	"sealab/codecs"
)

// contexts returns the bugs in the comparison of contexts and times.
func contexts() []Bug {
	return []Bug{
		{Name: "method-case", Target: "contexts", in: schemesThatHold(codecs.BindsMethod), context: foldedMethod,
			Doc: "methods are compared without regard to case"},
		{Name: "target-nul", Target: "contexts", in: schemesThatHold(codecs.BindsTarget), context: targetUpToNUL,
			Doc: "a target ends at its first NUL"},
		{Name: "empty-principal", Target: "contexts", in: schemesThatHold(codecs.BindsPrincipal), context: emptyIsNone,
			Doc: "the empty principal is taken for none"},
		{Name: "long-arguments", Target: "contexts", in: schemesThatHold(codecs.BindsArguments), context: firstArguments,
			Doc: "of arguments only the first 128 bytes are bound"},
		{Name: "late-expiry", Target: "contexts", in: schemesThatHold(codecs.Expiry), clock: slowClock,
			Doc: "the leeway of a clock is granted at expiry too"},
	}
}

func foldedMethod(c *codecs.Context) {
	c.Method = strings.ToLower(c.Method)
}

func targetUpToNUL(c *codecs.Context) {
	c.Target, _, _ = strings.Cut(c.Target, "\x00")
}

func emptyIsNone(c *codecs.Context) {
	if c.Principal != nil && *c.Principal == "" {
		c.Principal = nil
	}
}

func firstArguments(c *codecs.Context) {
	const bound = 128
	if len(c.Arguments) > bound {
		short, err := json.Marshal(string(c.Arguments[:bound]))
		if err == nil {
			c.Arguments = short
		}
	}
}

func slowClock(c *codecs.Context) { c.Now = c.Now.Add(-5 * time.Second) }
