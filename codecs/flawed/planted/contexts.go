package planted

import (
	"encoding/json"
	"strings"
	"time"

	"sealab/codecs"
)

// The bugs in how a scheme looks at contexts and times.
func contexts() []Bug {
	return []Bug{
		{Name: "method-case", Target: "contexts", in: schemesThatHold(codecs.BindsMethod), binding: foldedMethod,
			Doc: "methods are compared without regard to case"},
		{Name: "target-nul", Target: "contexts", in: schemesThatHold(codecs.BindsTarget), binding: targetUpToNUL,
			Doc: "a target ends at its first NUL"},
		{Name: "empty-principal", Target: "contexts", in: schemesThatHold(codecs.BindsPrincipal), binding: emptyIsNone,
			Doc: "the empty principal is taken for none"},
		{Name: "long-arguments", Target: "contexts", in: schemesThatHold(codecs.BindsArguments), binding: firstArguments,
			Doc: "of arguments only the first 128 bytes are bound"},
		{Name: "late-expiry", Target: "contexts", in: schemesThatHold(codecs.Expiry), reading: slowClock,
			Doc: "the leeway of a clock is granted at expiry too"},
	}
}

func foldedMethod(b codecs.Context) codecs.Context {
	b.Method = strings.ToLower(b.Method)
	return b
}

func targetUpToNUL(b codecs.Context) codecs.Context {
	b.Target, _, _ = strings.Cut(b.Target, "\x00")
	return b
}

func emptyIsNone(b codecs.Context) codecs.Context {
	if b.Principal != nil && *b.Principal == "" {
		b.Principal = nil
	}
	return b
}

func firstArguments(b codecs.Context) codecs.Context {
	const bound = 128
	if len(b.Arguments) > bound {
		short, err := json.Marshal(string(b.Arguments[:bound]))
		if err == nil {
			b.Arguments = short
		}
	}
	return b
}

func slowClock(now time.Time) time.Time { return now.Add(-5 * time.Second) }
