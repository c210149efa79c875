package findings

import (
	"fmt"
	"strings"

	"sealab/internal/verdict"
)

// longest is how many characters of a value evidence shows.
const longest = 160

// evidence writes the deciding calls of a reproducer for a person. Keys are not
// shown: the reproducer has them.
func evidence(w verdict.Reproducer) string { return strings.Join(steps(w), "; ") }

// steps are the seed and the deciding calls, one by one.
func steps(w verdict.Reproducer) []string {
	said := []string{fmt.Sprintf("seed %d", w.Seed)}
	for _, c := range w.Calls {
		said = append(said, call(c))
	}
	return said
}

func call(c verdict.Call) string {
	in := c.Token
	if c.Op == verdict.OpSeal {
		in = c.State
	}
	text := fmt.Sprintf("%s %s", c.Op, shown(in))
	if c.Op == verdict.OpOpen {
		text = fmt.Sprintf("open %d keys", len(c.Keys))
	}
	if c.Context != nil {
		text += " for " + context(*c.Context)
	}
	return text + " -> " + answer(c.Answer)
}

func context(c verdict.Context) string {
	text := fmt.Sprintf("%s %s at %s", shown([]byte(c.Method)), shown([]byte(c.Target)), c.Now.UTC().Format("2006-01-02T15:04:05.000Z"))
	if c.Arguments != nil {
		text += " with " + shown(c.Arguments)
	}
	if c.Principal != nil {
		text += " as " + shown([]byte(*c.Principal))
	}
	if c.Audience != nil {
		text += " to " + shown([]byte(*c.Audience))
	}
	return text
}

func answer(a verdict.Answer) string {
	switch a.Outcome {
	case verdict.Done:
		return shown(a.Out)
	case verdict.Refused:
		return strings.TrimSpace(fmt.Sprintf("refused, %s %s", a.Stage, a.Reason))
	default:
		return strings.TrimSpace(fmt.Sprintf("%s %s", a.Outcome, a.Text))
	}
}

// shown quotes the first characters of a value in ASCII, so that different
// characters of one look can be told apart.
func shown(b []byte) string {
	if len(b) > longest {
		return fmt.Sprintf("%+q... (%d bytes)", b[:longest], len(b))
	}
	return fmt.Sprintf("%+q", b)
}
