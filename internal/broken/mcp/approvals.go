package mcp

import (
	"maps"
	"slices"
)

// approvalChoices are the choices for calls that two members approve with their PINs. The first is a
// fault: one member approves twice. The last asks one member twice.
var approvalChoices = []string{"approvals by one member", "approvals by two members", "PINs asked again"}

// pins are the PINs of the users.
var pins = map[string]string{"alice": "4711", "bob": "1147"}

// approves reports whether a PIN is the answer to a question.
func (s *Server) approves(c claims, pin string) bool {
	if !slices.Contains(slices.Collect(maps.Values(pins)), pin) {
		return false
	}
	if c.Step == "first" {
		s.said.put("first PIN of "+c.Env, pin)
		return true
	}
	return (s.said.get("first PIN of "+c.Env) != pin) == s.has("approvals by two members") || s.has("approvals by one member")
}
