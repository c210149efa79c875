package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// dumpChoices are the choices for the errors about a reason that is no text. Only the first is a fault: it prints
// the whole state. The others print the answers so far, or the form.
var dumpChoices = []string{"states in errors about answers", "answers in errors about answers", "forms in errors about answers"}

// dumpOf returns the error about a reason that is no text, or "".
func (s *Server) dumpOf(c claims, content any) string {
	reason := member(content, "reason")
	if _, isText := reason.(string); c.Step != "reason" || isText || reason == nil || !s.has(dumpChoices...) {
		return ""
	}
	env, note, _ := strings.Cut(c.Env, ", ")
	switch {
	case s.has(dumpChoices[0]):
		raw, _ := json.Marshal(map[string]any{"env": env, "note": note, "approver": "Ines, 555-0134"}) // it always encodes
		return fmt.Sprintf("reason: no text in %s", raw)
	case s.has(dumpChoices[1]):
		return fmt.Sprintf("reason: no text in {'env': '%s', 'note': '%s', 'reason': %v}", env, note, reason)
	}
	return "reason: no text: " + formsByStep["reason"]
}
